import pg from "pg"

/** How many queries this process sends to PostgreSQL meanwhile: each is a way to the server and back. */
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
