import { existsSync } from "node:fs"
import { open, unlink } from "node:fs/promises"
import { own } from "../../protocol/own.ts"
import { CommandError } from "../process/command.ts"

export interface Output extends AsyncDisposable {
  write(text: string): Promise<void>
}

/** Opens the file that a flag names before anything is asked: an answer that cannot be kept is not paid for. */
export async function openOutput(path: string, flag = "-o"): Promise<Output> {
  const isNew = !existsSync(path)
  // What stands there stays until there is something to put in its place.
  const file = await open(path, "a").catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(
      `${flag} cannot write ${path} (${own(reasons, error.code ?? "") ?? error.code}); nothing was asked.`,
    )
  })
  let isWritten = false
  return {
    async write(text) {
      isWritten = true
      try {
        const { size } = await file.stat()
        if (size > 0) await file.truncate(0)
        await file.appendFile(text)
      } catch (error) {
        const { code = "", message } = error as NodeJS.ErrnoException
        throw new CommandError(`${flag} could not write all of it to ${path} (${own(reasons, code) ?? message}).`)
      }
    },
    async [Symbol.asyncDispose]() {
      await file.close()
      if (isNew && !isWritten) await unlink(path).catch(() => {})
    },
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such folder",
  ENOTDIR: "there is no such folder",
  EISDIR: "it is a folder",
  EACCES: "it is not yours to write",
  EPERM: "it is not yours to write",
  EROFS: "it can only be read there",
  ENOSPC: "its disk is full",
}
