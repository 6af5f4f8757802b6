import { createHash, hash } from "node:crypto"
import type { AskedModel } from "../../protocol/conversation/stages.ts"
import type { ModelRequest } from "../model.ts"

/** Letters of base64url, six bits each. */
const LENGTH = 8

/**
 * What is on record of a request beside the replies (a decision of a stage, a summary, a title): its instructions and what was asked with
 * them, so that `pawl replay` can tell whether it would be asked the same. Whole, since it is a model call of its own and no part of a turn
 * without stages.
 */
export const digestAside = ({ system, history }: ModelRequest): Pick<AskedModel, "promptHash" | "question"> => ({
  promptHash: createHash("sha256").update(system).digest("hex"),
  question: hash("sha256", JSON.stringify(history), "base64url").slice(0, LENGTH),
})
