import type { UserId } from "../../../protocol/ids.ts"
import type { ChangedEndpoint, NewAccess, ProviderView } from "../../../protocol/models/providers.ts"
import type { UsageAnswer } from "../../../protocol/models/usage.ts"
import type { ConversationPorts } from "../../conversation/ports.ts"

/** Beside the conversations that choose a model: who provides them, and what they have cost. */
export interface ModelRoutePorts extends ConversationPorts {
  /** Who answers where a conversation's model cannot, if neither it nor its agent says who does. */
  readonly fallback?: readonly string[]
  readonly providers: Providers
  readonly usage: UsageRecords
}

/** The providers of models, and what people have brought for them. A key goes in and never comes out. */
export interface Providers {
  list(user: UserId): Promise<ProviderView[]>
  /** Throws `not_found` for a provider that there is not. */
  find(user: UserId, name: string): Promise<ProviderView>
  save(user: UserId, name: string, access: NewAccess): Promise<void>
  /** An endpoint of the person's own. */
  change(user: UserId, name: string, changed: ChangedEndpoint): Promise<void>
  remove(user: UserId, name: string): Promise<void>
}

/** What people's model calls have used. */
export interface UsageRecords {
  read(user: UserId, days: { from: string; to: string }): Promise<UsageAnswer>
}
