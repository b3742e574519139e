"""Generated people and the films they saw, with known causes behind the label (CC0)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from butfor._checks import require_count
from butfor.errors import InputError

GENRES = (
    "heist", "ghost story", "space opera", "courtroom drama", "western", "musical",
    "romance", "noir", "animation", "documentary", "martial arts", "sports drama",
)  # fmt: skip
TEMPTING, REPELLING = "ghost story", "musical"
"""The genres whose films draw people to the midnight club, and keep them away from it."""

_ADJECTIVES = (
    "Amber", "Borrowed", "Broken", "Burning", "Copper", "Crooked", "Distant", "Drowned", "Electric", "Empty",
    "Fearless", "Forgotten", "Frozen", "Gentle", "Gilded", "Hidden", "Hollow", "Invisible", "Ivory", "Last",
    "Little", "Lonely", "Lost", "Midnight", "Narrow", "Northern", "Paper", "Patient", "Quiet", "Reckless",
    "Restless", "Rusty", "Salted", "Scarlet", "Second", "Secret", "Seventh", "Silent", "Silver", "Sleeping",
    "Slow", "Stolen", "Strange", "Stubborn", "Sudden", "Sunken", "Tender", "Thirsty", "Twisted", "Unfinished",
    "Unwritten", "Velvet", "Violet", "Wandering", "Wicked", "Wild", "Winter", "Wooden", "Wrong", "Yellow",
)  # fmt: skip
_NOUNS = (
    "Accordion", "Alibi", "Almanac", "Anchor", "Apprentice", "Archive", "Astronomer", "Balloonist",
    "Beekeeper", "Bridge", "Cartographer", "Ceremony", "Chandelier", "Clockmaker", "Comet", "Compass",
    "Confession", "Corridor", "Detective", "Diplomat", "Drummer", "Echo", "Elevator", "Envelope",
    "Ferryman", "Fiddler", "Garden", "Ghostwriter", "Glacier", "Harbour", "Heiress", "Horizon",
    "Hourglass", "Hunter", "Island", "Juggler", "Kingdom", "Ladder", "Lantern", "Lighthouse",
    "Locksmith", "Magician", "Mirror", "Monsoon", "Notebook", "Oracle", "Orchard", "Passenger",
    "Pendulum", "Piano", "Pilgrim", "Postcard", "Quarry", "Ransom", "Riddle", "River", "Rooftop",
    "Saboteur", "Sailor", "Shadow", "Staircase", "Stranger", "Telegram", "Thunder", "Tightrope",
    "Umbrella", "Violin", "Voyage", "Wager", "Witness",
)  # fmt: skip


@dataclass(frozen=True)
class Moviegoers:
    """Generated people, the films that they saw, and whether they joined the midnight club.

    Attributes
    ----------
    X : sparse matrix
        Binary CSR matrix, people × films.
    y : array of int
        The label of every person: 1 joined the midnight club.
    feature_names : tuple of str
        The title of every film.
    genres : tuple of str
        The genre of every film.
    causes : dict of int to float
        The planted truth: what seeing a film adds to the log-odds of joining, by column. Other films add
        nothing.
    target_names : tuple of str
        The names of the labels 0 and 1.
    """

    X: Any
    y: npt.NDArray[np.int64]
    feature_names: tuple[str, ...]
    genres: tuple[str, ...]
    causes: dict[int, float]
    target_names: tuple[str, str] = ("stays away", "joins the midnight club")


def load_moviegoers(
    *, n_people: int = 3_000, n_films: int = 1_000, films_per_person: int = 40, seed: int = 0
) -> Moviegoers:
    """Generate people with tastes, and the films that they saw.

    The activity of people and the popularity of films are long-tailed. The most popular ghost stories draw
    people to the midnight club, the most popular musicals keep them away, and chance does the rest.

    Parameters
    ----------
    n_people : int, default 3000
        Number of people, the rows.
    n_films : int, default 1000
        Number of films, the columns: at least 12, the number of genres, and at most 4,200.
    films_per_person : int, default 40
        Median number of films that a person saw.
    seed : int, default 0
        Seed of all random numbers.

    Returns
    -------
    Moviegoers
        The people, their labels, and the causes behind the labels.

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    >>> people = load_moviegoers()
    >>> people.X.shape, people.feature_names[:2]
    ((3000, 1000), ('The Restless Confession', 'The Yellow Staircase'))
    >>> {people.genres[film] for film, weight in people.causes.items() if weight > 0}
    {'ghost story'}
    """
    titles = _titles()
    require_count("n_people", n_people)
    require_count("films_per_person", films_per_person)
    require_count("n_films", n_films, at_least=len(GENRES))
    if n_films > len(titles):
        raise InputError(f"n_films must be at most {len(titles):,}, the number of titles, got {n_films:,}.")
    rng = np.random.default_rng(seed)
    names = tuple(titles[i] for i in rng.permutation(len(titles))[:n_films])
    genre_of = rng.permutation(np.arange(n_films) % len(GENRES))
    popularity = rng.permutation(1.0 / (5 + np.arange(n_films)))
    X = _views(rng, genre_of, popularity, n_people, films_per_person)
    causes = _causes(rng, genre_of, popularity)
    weights = np.zeros(n_films)
    weights[list(causes)] = list(causes.values())
    log_odds = X @ weights + rng.logistic(scale=0.5, size=n_people)
    return Moviegoers(
        X=X,
        y=(log_odds >= np.quantile(log_odds, 0.7)).astype(np.int64),
        feature_names=names,
        genres=tuple(GENRES[genre] for genre in genre_of),
        causes=causes,
    )


def _titles() -> list[str]:
    return [f"The {adjective} {noun}" for adjective in _ADJECTIVES for noun in _NOUNS]


def _views(
    rng: np.random.Generator, genre_of: Any, popularity: Any, n_people: int, films_per_person: int
) -> Any:
    """Draw distinct films for each person by popularity and taste (the largest of perturbed log-weights)."""
    n_films = len(genre_of)
    tastes = rng.dirichlet(np.full(len(GENRES), 0.4), size=n_people)
    activity = np.exp(rng.normal(np.log(films_per_person), 0.8, size=n_people))
    n_seen = np.clip(activity, 2, n_films / 2).astype(int)
    keys = np.log(popularity) + np.log(0.05 + tastes[:, genre_of]) + rng.gumbel(size=(n_people, n_films))
    ranks = np.argsort(np.argsort(-keys, axis=1), axis=1)
    return sparse.csr_matrix((ranks < n_seen[:, None]).astype(np.float64))


def _causes(rng: np.random.Generator, genre_of: Any, popularity: Any) -> dict[int, float]:
    """Plant the causes: weights on the 40 most popular films of two genres."""
    causes = {}
    for genre, sign in ((TEMPTING, 1.0), (REPELLING, -1.0)):
        films = np.flatnonzero(genre_of == GENRES.index(genre))
        popular = films[np.argsort(-popularity[films])][:40]
        for film, weight in zip(popular, rng.uniform(0.4, 1.4, size=len(popular)), strict=True):
            causes[int(film)] = sign * float(weight)
    return causes
