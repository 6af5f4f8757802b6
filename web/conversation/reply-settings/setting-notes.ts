import type { Item } from "../../../src/client/index.ts"
import { LeftOut, type ListedModel, type SettingName } from "../../../src/protocol/index.ts"

/** What a setting meets with the model that is chosen. */
export type SettingNotes = Partial<Record<SettingName, string>>

const THINKING: readonly SettingName[] = ["effort", "thinking", "thinkingTokens"]

/** What the model does not take: as its facts say, and as it was told in this conversation when it was asked. */
export function settingNotes(model: ListedModel | undefined, items: readonly Item[]): SettingNotes {
  const notes: SettingNotes = {}
  if (model?.can && !model.can.reasoning) {
    const says =
      model.sources?.reasoning === "assumed"
        ? "Nobody has said that this model thinks; where it does not, this is left out."
        : "This model does not think: this is left out."
    for (const name of THINKING) notes[name] = says
  }
  if (model?.can && !model.can.tools) notes.parallelCalls = "This model calls no tools: this changes nothing."
  for (const item of items) {
    const left = item.type === "step" && item.step === "left_out" ? LeftOut.safeParse(item.detail).data : undefined
    if (left?.model !== model?.name) continue
    for (const { name, because } of left?.settings ?? []) notes[name as SettingName] = `Left out: ${because}.`
  }
  return notes
}
