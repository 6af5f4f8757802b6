import { QUESTION } from "../../../core/protocol/index.ts"
import { humanName } from "../../../client/index.ts"
import { type Key, t } from "../strings/strings.ts"

const NAMES: ReadonlyMap<string, Key> = new Map([
  ["guardrail", "conversation.stepGuardrail"],
  ["routing", "conversation.stepRouting"],
  ["retrieval", "conversation.stepRetrieval"],
  ["grading", "conversation.stepGrading"],
  ["generation", "conversation.stepGeneration"],
  ["asked_model", "conversation.stepAskedModel"],
  [QUESTION, "conversation.stepQuestion"],
])

/** The name of a step; of one that this page does not know, as its server calls it. */
export function stepName(step: string): string {
  const name = NAMES.get(step)
  return name === undefined ? humanName(step) : t(name)
}
