import { randomBytes } from "node:crypto"
import { constants } from "node:fs"
import { open, rm } from "node:fs/promises"
import { join } from "node:path"
import { publishFile, syncFolder } from "../engine/publish-file.ts"

/** Identifies a folder: its database, and which of its folders it is. */
export interface FolderMark {
  readonly database: string
  readonly folder: string
}

/** The file with the mark. */
export const MARK_FILE = "pawl-files"
const LINE = /^([0-9a-f]{32}) ([0-9a-f]{32})\s*$/
const MAX_BYTES = 100

export const newMark = (): string => randomBytes(16).toString("hex")

export const markLine = ({ database, folder }: FolderMark): string => `${database} ${folder}`

/** Undefined if there is no mark. A malformed mark belongs to no known database. */
export async function readMark(path: string): Promise<FolderMark | undefined> {
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
  const file = await open(join(path, MARK_FILE), flags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined
    throw error
  })
  if (!file) return undefined
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0)
    const [, database = "", folder = ""] = LINE.exec(buffer.toString("latin1", 0, bytesRead)) ?? []
    return { database, folder }
  } finally {
    await file.close()
  }
}

/** If several processes mark a folder at once, the first mark counts. A partial mark is never visible. */
export async function writeMark(path: string, mark: FolderMark): Promise<void> {
  const draft = join(path, `.${MARK_FILE}-${newMark()}`)
  try {
    const file = await open(draft, "wx", 0o600)
    try {
      await file.writeFile(`${markLine(mark)}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await publishFile(draft, join(path, MARK_FILE)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error
    })
    await syncFolder(path)
  } finally {
    await rm(draft, { force: true })
  }
}
