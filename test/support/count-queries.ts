import pg from "pg"

/** Counts the queries that this process sends to PostgreSQL meanwhile; each is a round trip. */
export async function countQueries(work: () => Promise<unknown>): Promise<number> {
  const { query } = pg.Client.prototype
  let sent = 0
  pg.Client.prototype.query = function (this: unknown, ...args: unknown[]) {
    sent++
    return Reflect.apply(query, this, args)
  } as typeof query
  try {
    await work()
  } finally {
    pg.Client.prototype.query = query
  }
  return sent
}
