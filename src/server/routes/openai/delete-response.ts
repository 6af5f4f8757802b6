import type { Context } from "hono"
import { failure } from "../../../protocol/errors.ts"
import type { ResponseDeleted } from "../../../protocol/dialects/openai-responses.ts"
import { eraseConversation } from "../../conversation/erase.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { findResponse } from "./find-response.ts"
import type { OpenAiPorts } from "./ports.ts"

/**
 * Erases a response with its conversation, where that is all there is in it. Of a longer one it would take an answer out of
 * the middle, which everything after it goes by.
 */
export async function deleteResponse(c: Context<Env>, ports: OpenAiPorts): Promise<ResponseDeleted> {
  const { conversation, part, pause } = await findResponse(c, ports)
  const { id } = conversation
  const { items } = await ports.conversations.runs(id, { limit: 2 })
  if (items.length > 1 || part > 0 || pause !== undefined)
    throw failure("bad_request", {
      problem: `More was said in its conversation, so it cannot be deleted alone: DELETE /api/conversations/${id} deletes all of it.`,
    })
  await eraseConversation(ports, userOf(c), id)
  return { id: c.req.param("id") ?? "", object: "response", deleted: true }
}
