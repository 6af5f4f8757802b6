import { useEffect, useState } from "react"
import type { MessageFile } from "../../../src/protocol/index.ts"
import { FileChip, MAX_DRAWN } from "../../parts/file-chip.tsx"
import { saveFile } from "../../parts/save-file.ts"
import { client } from "../../state/client.ts"

/** The files of a message that was said, also after a reload: an image as a small picture, each to be saved. */
export function MessageFiles({ files }: { readonly files: readonly MessageFile[] }) {
  return (
    <ul aria-label="Files" className="mb-1 flex flex-wrap justify-end gap-2">
      {files.map((file) => (
        <li key={file.id}>
          <SaidFile file={file} />
        </li>
      ))}
    </ul>
  )
}

function SaidFile({ file: { id, name, type, size, width, height } }: { readonly file: MessageFile }) {
  const [blob, setBlob] = useState<Blob>()
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    if (!/^image\/(png|jpeg|gif|webp)$/.test(type) || size > MAX_DRAWN) return
    const gone = new AbortController()
    const fetched = client.readFile({ params: { id }, signal: gone.signal }).then((answer) => answer.blob())
    fetched.then(setBlob, () => {}) // its name stays, and to save it says what is wrong
    return () => gone.abort()
  }, [id, type, size])
  const save = () =>
    client.readFile({ params: { id } }).then(
      (answer) => saveFile(name, answer),
      (error: unknown) => setProblem((error as Error).message),
    )
  const pixels = width && height ? { width, height } : undefined
  return (
    <FileChip
      name={name}
      blob={blob}
      pixels={pixels}
      status={problem}
      isWrong={problem !== undefined}
      onOpen={() => void save()}
    />
  )
}
