import { client } from "../state/client.ts"
import { type ConnectionView, loadConnections } from "../state/connections.ts"

/** Where the server keeps the sample database, as a connection names it. */
const SAMPLE_PATH = "shared/sample-shop.db"

export const isSample = (connection: ConnectionView | undefined): boolean => connection?.path === SAMPLE_PATH

/** A database to ask at once: the person's connection to the sample, made where they have none. */
export async function connectSample(): Promise<ConnectionView> {
  const connection = await client.sampleConnection()
  await loadConnections()
  return connection
}
