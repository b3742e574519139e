"""The options of commands: a line of help for each, so that the commands themselves stay readable."""

from pathlib import Path
from typing import Annotated

import typer

SUBJECT, REMOVED, SEARCHED, SHOWN, WORK, TRUSTED = (
    "What is explained",
    "What may be removed",
    "How it is searched",
    "What is shown",
    "How the work is done",
    "Model files",
)
AGAIN = "May be given again."
SEARCH_NAMES = (
    "auto",
    "certified",
    "thrifty",
    "sedc",
    "lin-sedc",
    "lime-c",
    "shap-c",
    "lime-sedc",
    "shap-sedc",
    "complete",
    "random",
)
"""Those of `butfor.SEARCHES`, which takes long to import."""

MODEL_HELP = (
    "A skops file, or a model file of LightGBM (.txt), XGBoost (.json, .ubj) or CatBoost (.cbm); a pickle or "
    "joblib file needs --trust-pickle."
)
Model = Annotated[Path, typer.Argument(metavar="MODEL", help=MODEL_HELP)]
DATA_HELP = (
    "Rows of numbers: a matrix (.npz, .npy), a table (.csv, .tsv, .parquet) or JSON lines (.jsonl). Records "
    "with columns of several kinds, by name: a table or JSON lines. Or texts: a table with a column of them, "
    "JSON lines, or files that are one text each (.txt). Files, folders, patterns, or any address that "
    "fsspec knows."
)
Data = Annotated[list[str] | None, typer.Argument(metavar="DATA", help=DATA_HELP)]
Texts = Annotated[
    list[str] | None,
    typer.Option(
        "--text",
        metavar="TEXT",
        help=f"A text to explain, in the place of DATA; - reads standard input. {AGAIN}",
        rich_help_panel=SUBJECT,
    ),
]
TextColumn = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The column of a table that holds the texts. Default: the only one that does.",
        rich_help_panel=SUBJECT,
    ),
]
IdColumn = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The column that holds the row ids. Default: found by its name; without one, rows are numbered.",
        rich_help_panel=SUBJECT,
    ),
]
FeatureColumn = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The column that holds a feature, or a list of them, by name or number. Default: by its name; "
        '"" where each column of numbers is a feature.',
        rich_help_panel=SUBJECT,
    ),
]
ValueColumn = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The column that holds their values. Default: by its name; without one, all values are 1.",
        rich_help_panel=SUBJECT,
    ),
]
Row = Annotated[
    list[str] | None,
    typer.Option(
        metavar="N|id=ID",
        help=f"Row to explain, by its number, from 0, or by its id. {AGAIN} Default: all rows.",
        rich_help_panel=SUBJECT,
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        help="Score from which on a decision is positive. Default: the model's own.", rich_help_panel=SUBJECT
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        metavar="CLASS",
        help="The class to which the decision must flip. Default: any other.",
        rich_help_panel=SUBJECT,
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        metavar="LABEL",
        help="The label in question, for a model that decides about several labels at once.",
        rich_help_panel=SUBJECT,
    ),
]
Removal = Annotated[
    str | None,
    typer.Option(
        metavar="zero|delete|mask",
        help="What removing a word means: its columns become zero, or it is cut out of the text, or masked. "
        "Default: delete.",
        rich_help_panel=REMOVED,
    ),
]
Unit = Annotated[
    str | None,
    typer.Option(
        metavar="word|occurrence|sentence|column",
        help="What is removed of a text at a time. Default: word, with all its occurrences. Of records, "
        "column makes each column one unit.",
        rich_help_panel=REMOVED,
    ),
]
MaskToken = Annotated[
    str,
    typer.Option(metavar="TOKEN", help="What stands in the place of a masked word.", rich_help_panel=REMOVED),
]
Absent = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[COLUMN=]VALUE",
        help="Of records: what stands for absence in a column, such as age=40; a number alone is for "
        f"all columns of numbers, such as 0 for counts. {AGAIN} Default: numbers stay as they are.",
        rich_help_panel=REMOVED,
    ),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="COLUMN=KIND",
        help="Of records: what a column holds (text, items, category, number), where the model does not "
        f"tell. {AGAIN}",
        rich_help_panel=REMOVED,
    ),
]
Groups = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Features that are removed together: CSV with the columns feature,group, or JSON.",
        rich_help_panel=REMOVED,
    ),
]
Costs = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="What removals cost, for the cheapest answer: CSV with the columns feature,cost, or JSON.",
        rich_help_panel=REMOVED,
    ),
]
Protect = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FEATURE",
        help=f"A word, or a feature by name or column, that may not be removed; a column of records. {AGAIN}",
        rich_help_panel=REMOVED,
    ),
]
SearchName = Annotated[
    str, typer.Option(metavar="NAME", help=f"One of {', '.join(SEARCH_NAMES)}.", rich_help_panel=SEARCHED)
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help=f"A parameter of the search, such as n_samples=1000 or n_samples=100,1000. {AGAIN}",
        rich_help_panel=SEARCHED,
    ),
]
MaxSize = Annotated[int, typer.Option(help="The most features an answer may have.", rich_help_panel=SEARCHED)]
MaxSeconds = Annotated[float, typer.Option(help="Time limit for a row.", rich_help_panel=SEARCHED)]
MaxScorings = Annotated[
    int | None,
    typer.Option(help="The most rows that a black box may score for an answer.", rich_help_panel=SEARCHED),
]
Seed = Annotated[int, typer.Option(help="Seed of whatever is random.", rich_help_panel=SEARCHED)]
Names = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Feature names: text, one a line, or a JSON list (.json).",
        rich_help_panel=SHOWN,
    ),
]
ClassNames = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,…",
        help="Names of the model's classes, in their order; or a file, one a line.",
        rich_help_panel=SHOWN,
    ),
]
SubjectWords = Annotated[
    str | None,
    typer.Option(
        metavar="WORDS",
        help='Who is decided upon: "Sam" for "But for …, Sam would not be …".',
        rich_help_panel=SHOWN,
    ),
]
Decision = Annotated[
    str | None,
    typer.Option(
        metavar="WORDS",
        help='What was decided: "predicted male" for "But for …, … would not be predicted male".',
        rich_help_panel=SHOWN,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object a row.", rich_help_panel=SHOWN)]
Html = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write a page too, with the evidence marked in every text; it needs no other file.",
        rich_help_panel=SHOWN,
    ),
]
TrustPickle = Annotated[
    bool,
    typer.Option(
        "--trust-pickle",
        help="Load a pickle or joblib file. It can run any code: only for files you made.",
        rich_help_panel=TRUSTED,
    ),
]
Trust = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TYPE", help=f"A type inside a skops file that you trust. {AGAIN}", rich_help_panel=TRUSTED
    ),
]
Files = Annotated[list[str], typer.Argument(metavar="DATA...", help=DATA_HELP)]
OutFolder = Annotated[
    str,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Where Parquet parts are written; what an earlier run has written there is not done again.",
    ),
]
OnlyPositive = Annotated[
    bool, typer.Option("--only-positive", help="Leave negative rows out.", rich_help_panel=SUBJECT)
]
Jobs = Annotated[
    int | None, typer.Option(help="Worker processes. Default: one a core.", rich_help_panel=WORK)
]
Engine = Annotated[
    str,
    typer.Option(
        metavar="local|dask",
        help="Who does the work: processes of this machine, or a Dask cluster.",
        rich_help_panel=WORK,
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="The scheduler of a Dask cluster. Default: a cluster on this machine for as long as it takes.",
        rich_help_panel=WORK,
    ),
]
ChunkRows = Annotated[
    int | None,
    typer.Option(
        help="Rows of a part. Default: a 64th of all, but at least 100 and at most 5,000.",
        rich_help_panel=WORK,
    ),
]
Patience = Annotated[
    float,
    typer.Option(
        help="Seconds that a row may take beyond its time limit before its process is stopped.",
        rich_help_panel=WORK,
    ),
]
MaxUnpacked = Annotated[
    float,
    typer.Option(
        metavar="GIB",
        help="The most GiB that a compressed file (.npz, .skops) may unpack to.",
        rich_help_panel=TRUSTED,
    ),
]
Retry = Annotated[
    str | None,
    typer.Option(
        metavar="errors[=TEXT]",
        help="Try rows again whose outcome in --out is an error, or those whose error holds TEXT.",
        rich_help_panel=WORK,
    ),
]
ProgressShown = Annotated[
    str | None,
    typer.Option(
        "--progress",
        metavar="bar|lines|json|none",
        help="How progress is shown on stderr. Default: a bar in a terminal; elsewhere a line after 10 "
        "seconds and every 30 from then on. json: one object a line.",
        rich_help_panel=WORK,
    ),
]
