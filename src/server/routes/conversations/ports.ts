import type { Ports } from "../../../agent/ports.ts"
import type { MessageInput } from "../../../agent/input.ts"
import type { Page, QueuedMessage } from "../../../protocol/answers.ts"
import type { SharedRunView } from "../../../protocol/conversation/shared-run.ts"
import type { ConversationId, MessageId, RunId, SharedRunId, UserId } from "../../../protocol/ids.ts"
import type { MessageFiles } from "../../../protocol/ports/message-files.ts"
import type { PageQuery } from "../../../protocol/requests.ts"
import type { MessageKeys } from "../../conversation/message-key.ts"
import type { StreamPorts } from "../../stream/ports.ts"

/** Beside what every stream needs: messages that wait, and those that come twice. */
export interface ConversationRoutePorts extends StreamPorts {
  /** Refuses a schema for answers that cannot be used. */
  readonly answerSchema?: Ports["answerSchema"]
  readonly queue: Queue
  readonly sharedRuns: SharedRuns
  readonly messageKeys: MessageKeys
  readonly messageFiles: Pick<MessageFiles, "use" | "shareUses">
}

/** Messages that wait for their turn; false where one no longer does. `release` ends the hold after a cancel. */
export interface Queue {
  list(id: ConversationId): Promise<QueuedMessage[]>
  edit(id: ConversationId, message: MessageId, words: Pick<MessageInput, "text" | "asks">): Promise<boolean>
  withdraw(id: ConversationId, message: MessageId): Promise<boolean>
  release(id: ConversationId, message: MessageId, by: Pick<MessageInput, "asks">): Promise<boolean>
}

/** Links to runs for other people. Implemented in store/. */
export interface SharedRuns {
  /** Undefined where the person has no such run. */
  create(
    user: UserId,
    run: RunId,
    expiresAt: number | null,
  ): Promise<{ readonly view: SharedRunView; readonly secret: string } | undefined>
  list(user: UserId, page: PageQuery): Promise<Page<SharedRunView>>
  revoke(user: UserId, id: SharedRunId): Promise<boolean>
  /** Whose run a link leads to, while it does. */
  find(secret: string): Promise<{ readonly user: UserId; readonly run: RunId } | undefined>
}
