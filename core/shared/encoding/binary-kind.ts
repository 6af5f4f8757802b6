/**
 * The kind of a file that is not text, and what the user can do, as a sentence without a full stop; undefined if it is
 * unknown. It is determined by the first bytes, and nothing is unpacked.
 */
export function binaryKind(bytes: Uint8Array): string | undefined {
  const head = String.fromCharCode(...bytes.subarray(0, HEAD))
  if (head.startsWith("PK\x03\x04")) return archiveKind(head)
  return SIGNS.find(([sign]) => head.startsWith(sign))?.[1]
}

const HEAD = 4096
const SHEET = "save its sheet as CSV (UTF-8), and add that"
const TEXT = "save it as PDF or as plain text, and add that"

/** Office documents are archives. The names of their first entries show which one it is. */
function archiveKind(head: string): string {
  const found = ENTRIES.find(([entry]) => head.includes(entry))
  return found?.[1] ?? "it is an archive (ZIP), which is not unpacked here: add the files that are in it"
}

const ENTRIES: readonly (readonly [string, string])[] = [
  ["xl/", `it is an Excel workbook (XLSX): ${SHEET}`],
  ["word/", `it is a Word document (DOCX): ${TEXT}`],
  ["ppt/", `it is a PowerPoint presentation (PPTX): ${TEXT}`],
  ["opendocument.spreadsheet", `it is an OpenDocument spreadsheet (ODS): ${SHEET}`],
  ["opendocument.text", `it is an OpenDocument text (ODT): ${TEXT}`],
  ["opendocument.presentation", `it is an OpenDocument presentation (ODP): ${TEXT}`],
  ["application/epub+zip", `it is an e-book (EPUB): ${TEXT}`],
  // The first entry of every Office document; later entries show which one it is.
  [
    "[Content_Types].xml",
    "it is an Office document (XLSX, DOCX or PPTX): save a table as CSV, a text as PDF, and add that",
  ],
]

const COMPRESSED = "which is not unpacked here: unpack it, and add what is in it"

const SIGNS: readonly (readonly [string, string])[] = [
  ["PK\x05\x06", "it is an archive (ZIP) with nothing in it"],
  [
    "\xd0\xcf\x11\xe0",
    "it is an old Office document (XLS, DOC or PPT): save a table as CSV, a text as PDF, and add that",
  ],
  ["\x1f\x8b", `it is compressed (gzip), ${COMPRESSED}`],
  ["BZh", `it is compressed (bzip2), ${COMPRESSED}`],
  ["\xfd7zXZ\0", `it is compressed (xz), ${COMPRESSED}`],
  ["\x28\xb5\x2f\xfd", `it is compressed (zstd), ${COMPRESSED}`],
  ["7z\xbc\xaf", `it is an archive (7z), ${COMPRESSED}`],
  ["Rar!", `it is an archive (RAR), ${COMPRESSED}`],
  ["SQLite format 3\0", "it is an SQLite database: connect it as a database"],
  ["PAR1", "it is a Parquet file: save its rows as CSV, and add that"],
  ["%PDF-", "it is a PDF, not a table: add it to the library"],
  ["\x89PNG", "it is a picture (PNG), and no text"],
  ["\xff\xd8\xff", "it is a picture (JPEG), and no text"],
  ["GIF8", "it is a picture (GIF), and no text"],
]
