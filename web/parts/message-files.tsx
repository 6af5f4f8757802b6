import { useState } from "react"
import type { MessageFile } from "../../src/protocol/index.ts"
import { FileChip } from "./file-chip.tsx"
import { saveFile } from "./save-file.ts"
import { usePicture } from "./use-picture.ts"
import { client } from "../state/client.ts"

interface MessageFilesProps {
  readonly files: readonly MessageFile[]
  /** Where they can be left out of what is said next. */
  readonly onRemove?: (id: string) => void
  /** A tool has brought them: they stand where its words stand, not where the person's do. */
  readonly isBrought?: boolean
}

/** The files of a message that was said or of a result, also after a reload: an image as a small picture, each to be saved. */
export function MessageFiles({ files, onRemove, isBrought = false }: MessageFilesProps) {
  return (
    <ul aria-label="Files" className={`mb-1 flex flex-wrap gap-2 ${onRemove || isBrought ? "" : "justify-end"}`}>
      {files.map((file) => (
        <li key={file.id}>
          <SaidFile file={file} {...(onRemove ? { onRemove: () => onRemove(file.id) } : {})} />
        </li>
      ))}
    </ul>
  )
}

function SaidFile({ file, onRemove }: { readonly file: MessageFile; readonly onRemove?: () => void }) {
  const { id, name } = file
  const [problem, setProblem] = useState<string>()
  const picture = usePicture(file)
  const save = () =>
    client.readFile({ params: { id } }).then(
      (answer) => saveFile(name, answer),
      (error: unknown) => setProblem((error as Error).message),
    )
  return (
    <FileChip
      name={name}
      {...picture}
      status={problem}
      isWrong={problem !== undefined}
      onOpen={() => void save()}
      {...(onRemove ? { onRemove } : {})}
    />
  )
}
