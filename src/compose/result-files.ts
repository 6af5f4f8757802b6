import type { Log } from "../agent/ports.ts"
import type { ResultFileKeeper } from "../mcp/result.ts"
import { failure } from "../protocol/errors.ts"
import type { MessageFiles } from "../protocol/ports/message-files.ts"
import { toResultFile } from "../server/files/result-file.ts"

/** Of what a person's files may take: what tools bring never takes the room of what the person sends. */
const SHARE = 0.5

/**
 * Keeps what tools bring beside what people send. The bytes first, then that this call names them, and only then does the
 * journal: wherever the process dies there is no name without a file, and a file without a name is swept up after a day.
 */
export function resultFiles(
  { messageFiles, bytesOfFiles }: { readonly messageFiles: MessageFiles; readonly bytesOfFiles: number },
  log: Log,
): ResultFileKeeper {
  return {
    async keep({ user, conversation, callId }, { name, bytes }) {
      try {
        const file = await toResultFile(bytes, name)
        const { id } = await messageFiles.keep(user, file, bytesOfFiles * SHARE)
        if (!(await messageFiles.use(user, { conversation, message: callId }, [id]))) throw failure("not_found")
        const { type, width, height } = file
        const pixels = width === undefined || height === undefined ? {} : { width, height }
        return { id, name: file.name, type, size: bytes.length, ...pixels }
      } catch (error) {
        log.warn("result_file_not_kept", { conversation, call: callId, error })
        throw error
      }
    },
  }
}
