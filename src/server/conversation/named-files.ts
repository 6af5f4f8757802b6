import type { MessageFile } from "../../protocol/conversation/message-file.ts"
import { failure } from "../../protocol/errors.ts"
import type { FileId, UserId } from "../../protocol/ids.ts"
import type { FileUse, MessageFiles } from "../../protocol/ports/message-files.ts"

/** The files that a message names, each of which stays from now on. Throws `not_found` for one that is not there, or another's. */
export async function namedFiles(
  { messageFiles }: { readonly messageFiles: Pick<MessageFiles, "use"> },
  user: UserId,
  use: FileUse,
  ids: readonly FileId[] | null | undefined,
): Promise<{ files?: readonly MessageFile[] }> {
  if (!ids?.length) return {}
  const files = await messageFiles.use(user, use, [...new Set(ids)])
  if (!files) throw failure("not_found")
  return { files }
}
