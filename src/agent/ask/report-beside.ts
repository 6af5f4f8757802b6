import { LEFT_OUT, WAITING } from "../definition/stages.ts"
import type { BesidePart, ThinkingPart } from "../model.ts"
import { record, type Work } from "../record.ts"
import { toldSettings } from "../told-settings.ts"

/**
 * Puts on record what is told beside a reply: that a provider is waited for, so that whoever watches knows why nothing
 * comes, and once in a conversation that a setting does not count. Both are there after a reload, too.
 */
export function reportBeside(work: Work, model: string): (part: Exclude<BesidePart, ThinkingPart>) => Promise<void> {
  return async (part) => {
    if (part.type === "left_out") {
      const { leftOut } = work.conversation
      const news = part.settings.filter((each) =>
        toldSettings({ model, settings: [each] }).some((told) => !leftOut.has(told)),
      )
      if (news.length > 0) await record(work, [{ type: "step", step: LEFT_OUT, detail: { model, settings: news } }])
      return
    }
    const { provider, because, ms, attempt, attempts } = part
    const until = new Date(work.ports.clock.now() + ms).toISOString()
    const detail = { provider, because, seconds: Math.ceil(ms / 1000), until, attempt, attempts }
    await record(work, [{ type: "step", step: WAITING, detail }])
  }
}
