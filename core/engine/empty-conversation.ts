import type { ConversationId, UserId } from "../protocol/ids.ts"
import type { Conversation } from "./conversation.ts"
import { noStages } from "./definition/stages.ts"

/** Shared by all conversations without entries, which are most. Copy it to add an entry. */
const NONE: ReadonlyMap<never, never> = new Map<never, never>()
const NOTHING: ReadonlySet<never> = new Set()
const NO_TOOLS: readonly never[] = []

/** The state of an empty journal. */
export function emptyConversation(id: ConversationId, user: UserId): Conversation {
  return {
    id,
    user,
    position: 0,
    at: 0,
    seq: 0,
    agent: "",
    model: null,
    provider: null,
    fallback: null,
    spared: NONE,
    mode: "confirm",
    title: null,
    settings: {},
    leftOut: NOTHING,
    titled: undefined,
    firstAnswer: undefined,
    site: "server",
    deviceId: null,
    connectionId: null,
    timeZone: null,
    hasFiles: false,
    history: [],
    marks: [],
    tokens: 0,
    reasoners: NOTHING,
    said: [],
    notes: [],
    run: undefined,
    joined: NO_TOOLS,
    clientTools: [],
    routing: { decision: undefined, pending: false, shown: undefined, wide: false },
    stages: noStages(),
    calls: [],
    proposals: new Map(),
    undone: NONE,
    grants: NONE,
    hasSeen: { outside: false, private: false },
    brought: NONE,
    compaction: { due: undefined, tried: 0, hasGivenWay: false, decisions: [] },
    state: {},
    heldUpTo: 0,
    hasUnknownEvents: false,
    inbox: [],
    arrivals: 0,
  }
}
