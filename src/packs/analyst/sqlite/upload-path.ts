import { type ConnectionId, isId } from "../../../protocol/ids.ts"

/** Where the database lies that was made of an upload, in its person's folder, as its connection names it. */
export const uploadPath = (id: ConnectionId): string => `csv/${id}.db`

/** Whose upload lies at this path of a person's folder; undefined for any other file. */
export function uploadAt(path: string): ConnectionId | undefined {
  const [, id = ""] = /^csv\/(\w+)\.db$/.exec(path) ?? []
  return isId("conn", id) ? (id as ConnectionId) : undefined
}
