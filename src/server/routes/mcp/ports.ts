import type { Page } from "../../../protocol/answers.ts"
import type { ConnectionView, QueryAnswer, SchemaAnswer, SchemaQuery } from "../../../protocol/databases/connections.ts"
import type { QueryResults } from "../../../protocol/databases/query-results.ts"
import type { ConnectionId, UserId } from "../../../protocol/ids.ts"
import type { PassageSearch, SearchAnswer } from "../../../protocol/library.ts"
import type { Embedder, Workspace } from "../../../protocol/ports/workspace.ts"
import type { PageQuery } from "../../../protocol/requests.ts"
import type { MessageKeys } from "../../conversation/message-key.ts"
import type { ServerAddress } from "../../door/ports.ts"
import type { StreamPorts, WatchedWorkspaces } from "../../stream/ports.ts"

/** Beside what every stream needs: what people keep here, to be searched and read. */
export interface McpServerPorts extends StreamPorts {
  readonly messageKeys: MessageKeys
  readonly databases: ReadDatabases
  readonly results: Pick<QueryResults, "keep">
  readonly library: { search(user: UserId, search: PassageSearch, signal: AbortSignal): Promise<SearchAnswer> }
  readonly workspaces: SearchedWorkspaces
  readonly embedder: Embedder
  readonly address: ServerAddress
  /** Of this program. */
  readonly version: string
}

interface SearchedWorkspaces extends WatchedWorkspaces {
  of(user: UserId): Pick<Workspace, "get" | "nearest" | "indexing">
}

interface Asked {
  readonly user: UserId
  readonly id: ConnectionId
  readonly signal: AbortSignal
}

/** Databases of people, which are only ever read. What is somebody else's is `not_found`, like what does not exist. */
interface ReadDatabases {
  find(user: UserId, id: ConnectionId): Promise<ConnectionView>
  list(user: UserId, page: PageQuery): Promise<Page<ConnectionView>>
  schema(asked: Asked, query: SchemaQuery): Promise<SchemaAnswer>
  query(asked: Asked, sql: string): Promise<QueryAnswer>
}
