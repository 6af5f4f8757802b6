import type { Context } from "hono"
import type { MessageInput } from "../../../agent/input.ts"
import type { AskedFile } from "../../../dialects/ai-sdk/asked-file.ts"
import { CLIENT_HISTORY } from "../../../protocol/conversation/brought.ts"
import { MAX_FILES } from "../../../protocol/conversation/message-file.ts"
import { failure } from "../../../protocol/errors.ts"
import type { ConversationId, FileId } from "../../../protocol/ids.ts"
import { toClientContext } from "../../conversation/client-context.ts"
import { namedFiles } from "../../conversation/named-files.ts"
import { spokenBy, userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { toNewFile } from "../../files/read-upload.ts"
import { messageIdOf } from "./chat-conversation.ts"
import type { AiSdkPorts } from "./ports.ts"
import type { WordsRequest } from "./words-request.ts"

/** Characters that a client's memory may have beside the words. */
const ROOM = { all: 48_000, one: 48_000 }

/** Of a run that calls tools of its page: each reply that does counts. */
const MAX_ITERATIONS = 20

interface Said extends Pick<WordsRequest, "asked" | "body"> {
  readonly id: ConversationId
  /** Nothing was said in the conversation before: what the client remembers is all that it can know. */
  readonly isFirst: boolean
}

/** The words of a request with what comes along. Their files are kept first: a crash in between leaves some that nobody names. */
export async function toSaidMessage(
  c: Context<Env>,
  ports: AiSdkPorts,
  { asked, body, id, isFirst }: Said,
): Promise<MessageInput> {
  const messageId = messageIdOf(id, asked.id)
  const brought = isFirst ? toClientContext([[CLIENT_HISTORY, asked.before]], ROOM) : []
  const kept = await keepFiles(c, ports, asked.files)
  const files = await namedFiles(ports, userOf(c), { conversation: id, message: messageId }, kept)
  return {
    ...{ type: "message", id: messageId, text: asked.text, when: "reject" },
    ...spokenBy(c.get("caller")),
    ...(body.timeZone ? { timeZone: body.timeZone } : {}),
    ...(brought.length > 0 ? { brought } : {}),
    ...(asked.tools.length > 0 ? { clientTools: asked.tools, maxIterations: MAX_ITERATIONS } : {}),
    ...(asked.results.length > 0
      ? { results: { type: "client_results", results: asked.results, by: userOf(c) } as const }
      : {}),
    ...files,
  }
}

async function keepFiles(c: Context<Env>, ports: AiSdkPorts, files: readonly AskedFile[]): Promise<FileId[]> {
  if (files.length > MAX_FILES)
    throw failure("bad_request", { problem: `A message has at most ${MAX_FILES} files; these are ${files.length}.` })
  const kept: FileId[] = []
  for (const file of files) {
    if (file.type === "uploaded") kept.push(file.id)
    else {
      const { name, mediaType: type, bytes } = file
      const looked = await toNewFile(bytes, { name, type })
      kept.push((await ports.messageFiles.keep(userOf(c), looked, ports.bytesOfFiles)).id)
    }
  }
  return kept
}
