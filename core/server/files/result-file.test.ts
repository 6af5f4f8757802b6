import { expect, test } from "vitest"
import { toResultFile } from "./result-file.ts"

const PDF = "%PDF-1.4\n%%EOF"

test.each<[what: string, bytes: string, said: string, ...is: [name: string, type: string]]>([
  ["a page is text to save", "<html><script>1</script>", "index.html", "index.html.txt", "text/html"],
  ["a script is text to save", "#!/bin/sh\nrm -r ~", "run.sh", "run.sh.txt", "text/plain"],
  ["a table keeps its name", "a,b\n1,2", "a.csv", "a.csv", "text/csv"],
  ["a drawing is no image here", "<svg onload=x></svg>", "a.svg", "a.svg.bin", "application/octet-stream"],
  ["a document is one, whatever it is called", PDF, "a.png", "a.png.pdf", "application/pdf"],
  ["two things at once are bytes", `${PDF}PK\x05\x06`, "a.pdf", "a.pdf.bin", "application/octet-stream"],
  ["an image whose end is missing is bytes", "\x89PNG\r\n\x1a\n", "a.png", "a.png.bin", "application/octet-stream"],
  ["a document of an office is an archive", "PK\x03\x04...", "a.docx", "a.docx", "application/zip"],
  ["an archive that says it is a program is none", "PK\x03\x04...", "a.jar", "a.jar.zip", "application/zip"],
  ["a program is bytes", "\x7fELF\0\0", "a", "a.bin", "application/octet-stream"],
  ["a sound", "ID3\x04\0", "a.wav", "a.wav.mp3", "audio/mpeg"],
  ["nothing of a path is left", "Words.", "..\\..\\x/../\u202e.txt", "⟨U+202E⟩.txt", "text/plain"],
])("%s", async (_, bytes, said, ...is) => {
  const file = await toResultFile(Buffer.from(bytes, "latin1"), said)
  expect([file.name, file.type]).toEqual(is)
})
