import { pawl } from "../../server.ts"

/** Answers the requests of useChat. */
const answer = async (request: Request): Promise<Response> => (await pawl()).fetch(request)

export const dynamic = "force-dynamic"
export { answer as GET, answer as POST }
