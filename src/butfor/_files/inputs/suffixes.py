"""How the names of files end, and the kind of file that each ending means."""

DELIMITERS = {".csv": ",", ".tsv": "\t"}
PARQUET = (".parquet", ".pq")
JSON_LINES = (".jsonl", ".ndjson")
TEXT_FILE = ".txt"
FILE_KINDS = {
    ".npz": "matrix",
    ".npy": "dense matrix",
    **dict.fromkeys(PARQUET, "Parquet"),
    **dict.fromkeys(DELIMITERS, "CSV or TSV"),
    **dict.fromkeys(JSON_LINES, "JSON lines"),
    TEXT_FILE: "text",
}
