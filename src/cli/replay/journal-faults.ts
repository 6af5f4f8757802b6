import type { Journal } from "../../agent/journal.ts"
import type { JournalEvent, UnknownEvent } from "../../protocol/events.ts"
import type { ConversationId } from "../../protocol/ids.ts"

type Events = (JournalEvent | UnknownEvent)[]

/** The rows up to one of them, and the first that cannot be read at all: what stands before it is read all the same. */
export async function readJournalRows(
  journal: Pick<Journal, "read">,
  id: ConversationId,
  upTo: number,
): Promise<{ readonly events: Events; readonly torn: number | undefined }> {
  try {
    return { events: await journal.read(id, { upTo }), torn: undefined }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  // Half of what is left each time: a journal may have very many rows.
  let [whole, torn] = [0, upTo]
  while (torn - whole > 1) {
    const middle = Math.floor((whole + torn) / 2)
    if (await isReadable(journal, id, { after: whole, upTo: middle })) whole = middle
    else torn = middle
  }
  return { events: await journal.read(id, { upTo: whole }), torn }
}

async function isReadable(
  journal: Pick<Journal, "read">,
  id: ConversationId,
  range: { readonly after: number; readonly upTo: number },
): Promise<boolean> {
  try {
    await journal.read(id, range)
    return true
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}
