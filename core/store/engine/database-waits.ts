/** How long this end waits for the database, in milliseconds. */
export interface DatabaseWaits {
  /** For a connection, from the pool or over the network, before the request fails. */
  readonly connect: number
  /** For the next word on a connection. Whoever is cut off in the middle of a change keeps its rows for half as long again. */
  readonly silence: number
}

export const WAITS: DatabaseWaits = { connect: 10_000, silence: 10_000 }
