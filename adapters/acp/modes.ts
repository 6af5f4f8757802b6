import type { SessionModeState } from "@agentclientprotocol/sdk"
import type { Mode } from "../../core/protocol/schema.ts"

const MODES: Readonly<Record<Mode, { readonly name: string; readonly description: string }>> = {
  "read-only": { name: "Read only", description: "Looks, and changes nothing" },
  confirm: { name: "Confirm", description: "Shows each change first, and makes it when you say yes" },
  auto: { name: "Auto", description: "Makes changes without asking, except where it always asks" },
}

/** The modes of a conversation as an editor offers them. */
export function modesOf(current: Mode): SessionModeState {
  return {
    currentModeId: current,
    availableModes: Object.entries(MODES).map(([id, mode]) => ({ id, ...mode })),
  }
}
