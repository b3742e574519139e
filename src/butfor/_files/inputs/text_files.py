"""Text files, each of which is one text."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from butfor._files.inputs.base import Chunk, ChunkedInput, ColumnNames, IdType, InputRows, ModelNeeds
from butfor._files.inputs.locations import DataChangedError, Files
from butfor._files.inputs.text_column import Cell
from butfor._files.inputs.whole_rows import chunks_of_rows
from butfor._files.opening import not_utf8
from butfor.errors import InputError


def open_text_files(files: Files, columns: ColumnNames, needs: ModelNeeds) -> "TextFiles":
    """Open text files."""
    return TextFiles(files)


@dataclass(frozen=True)
class TextFiles(ChunkedInput):
    """Files of UTF-8; the id of a row is the name of its file."""

    files: Files
    holds_texts = True
    kind = "text files"
    feature_names = None
    id_type: IdType = field(default="string", init=False)

    def chunks(self, chunk_rows: int) -> Iterator[Chunk]:
        """Cut the rows into chunks."""
        return chunks_of_rows((1 for _ in self.files.paths), chunk_rows)

    def read(self, chunk: Chunk) -> InputRows:
        """Read the texts of a chunk."""
        first, _, _ = chunk.place
        rows = InputRows(list(self.files.names[first : first + chunk.n_rows]), [])
        for position in range(chunk.n_rows):
            text = self._text(first + position)
            if isinstance(text, InputError):
                rows.errors[position] = str(text)
            rows.content.append("" if isinstance(text, InputError) else text)
        return rows

    def fingerprint(self) -> str:
        """Return a hash of the content."""
        return self.files.fingerprint(self.kind, self.files.names)

    def _text(self, number: int) -> Cell:
        try:
            with self.files.opened(number) as file:
                text: str = file.read().decode("utf-8-sig")
            return text.replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError as error:
            name = self.files.names[number]
            return InputError(f"DATA must be UTF-8 text, got {name}, which {not_utf8(error)}")
        except DataChangedError:
            raise
        except InputError as error:  # this file's; the others are not lost
            return error
