"""Explanations to show: one of each kind."""

from dataclasses import replace

from butfor import Explanation

FOUND = Explanation(
    status="found",
    features=("Die Hard", "Taxi Driver", "Mission: Impossible"),
    columns=(17, 40, 3),
    weights=(0.2, 0.15, 0.1),
    score=0.71,
    score_without=0.27,
    threshold=0.29,
    lower_bound=2,
    n_active=34,
    n_protected=0,
    max_size=30,
    n_scored=67,
    seconds=0.002,
    search="sedc",
    local_model="black box",
    reason="",
)
NOTHING = replace(
    FOUND, status="none", features=(), columns=(), weights=(), score_without=0.71, lower_bound=31
)
TEXT = "FREE entry! Win a prize now, it is free. Call 0800."
SPAM = replace(
    FOUND,
    features=("free", "prize"),
    columns=(3, 9),
    weights=(),
    score=0.93,
    score_without=0.31,
    path=(0.62, 0.31),
    threshold=0.5,
    lower_bound=2,
    n_active=9,
    items=("0800", "call", "entry", "free", "is", "it", "now", "prize", "win"),
    decision="spam",
    decision_without="ham",
    text=TEXT,
    spans=(((0, 4), (35, 39)), ((18, 23),)),
    unit="word",
    survives_deletion=True,
)
SPORTS = replace(
    SPAM,
    features=("goal", "match"),
    decision="sports",
    decision_without="politics",
    n_classes=4,
    score=0.41,
    path=(0.2, -0.05),
    score_without=-0.05,
    threshold=0.0,
    text="A late goal won the match.",
    spans=(((7, 11),), ((20, 25),)),
    removal="delete",
    survives_deletion=None,
)
FILMS = replace(
    FOUND, items=("Alien", "Die Hard", "Mission: Impossible", "Taxi Driver"), path=(0.6, 0.4, 0.27)
)
COSTLY = replace(FILMS, costs=True, cost=5.5, lower_bound=4.25)
NO_TEXT = replace(
    SPAM, status="none", features=(), spans=(), path=(), columns=(), score_without=0.93, lower_bound=31
)
LOAN = replace(
    FOUND,
    features=("visited: debt-advice", "'gambling' in purpose", 'plan = "pro"', "age = 40"),
    columns=(3, 2, 0, 1),
    weights=(),
    n_active=9,
    path=(0.6, 0.5, 0.4, 0.27),
    items=("visited: debt-advice", "'gambling' in purpose", 'plan = "pro"', "age = 40", "'some' in purpose"),
    places=(0, 1, 2, 3),
    decision="declined",
    decision_without="granted",
    unit="part",
    removal="delete",
    table=(
        ("plan", "pro"),
        ("age", "40"),
        ("purpose", "some gambling debts"),
        ("visited", "faq, debt-advice"),
    ),
    marks=(((3, 5, 16),), ((2, 5, 13),), ((0, 0, 3),), ((1, 0, 2),)),
    instead=("", "", '"free"', "missing"),
)
ALL = (FOUND, NOTHING, SPAM, SPORTS, FILMS, COSTLY, NO_TEXT, LOAN)
