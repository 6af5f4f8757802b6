import type { ModelAnswer, StateAnswer } from "../protocol/answers.ts"
import type { ConversationView } from "../protocol/conversation/conversation.ts"
import type { Message } from "../protocol/conversation/message.ts"
import { SqlResultState } from "../protocol/databases/query-results.ts"
import type { ThreadAnswer, ThreadModel, ThreadState } from "../protocol/dialects/threads.ts"

/** A conversation as a thread: who said what, without calls and their results. */
export function toThread({ id, createdAt }: ConversationView, messages: readonly Message[]): ThreadAnswer {
  const said = messages.flatMap(({ role, content, createdAt: timestamp }) => {
    return role === "tool" || content === "" ? [] : [{ sender: role, text: content, timestamp }]
  })
  return { thread_id: id, created_at: createdAt, messages: said }
}

interface Told {
  readonly model: string | null
  readonly schema: string | null
}

export function toThreadState(state: StateAnswer, { model, schema }: Told): ThreadState {
  const { data } = SqlResultState.safeParse(state.sqlResult)
  const { connection } = state
  return {
    thread_id: state.conversationId,
    model_name: model,
    db_schema: schema,
    connection: connection && { user_id: connection.userId, connection_id: connection.connectionId },
    sql_result: data ? JSON.stringify(toResult(data)) : null,
  }
}

const toResult = (data: SqlResultState) => ({
  sql: data.sql,
  columns: data.columns,
  rows: data.rows,
  row_count: data.rowCount,
  truncated: data.truncated,
  result_id: data.resultId,
  connection_id: data.connectionId,
})

export const toThreadModel = ({ conversationId, model, models }: ModelAnswer): ThreadModel => ({
  thread_id: conversationId,
  model,
  models,
})
