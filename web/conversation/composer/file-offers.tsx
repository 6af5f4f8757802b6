import { type ReactNode, useState } from "react"
import type { MessageFile } from "../../../src/protocol/index.ts"
import { attempt } from "../../parts/explain.ts"
import type { ChosenFile } from "../../state/chosen-files.ts"
import { client } from "../../state/client.ts"
import { bring } from "../../state/drop-zones.ts"
import { navigate } from "../../state/router.ts"
import { LibraryDialog } from "./library-dialog.tsx"

/** What else could be done with a file. */
export interface Offer {
  readonly words: string
  readonly take: () => void
}

const TABLE = /\.(csv|tsv)$/i
const PAPER = /\.(pdf|md|markdown|txt|html?|rtf)$/i

/** A table can be asked as a database, a paper be found again in the library: both know more of it than a message does. */
export function useOffers(): { offerOf: (file: ChosenFile) => Offer | undefined; dialog: ReactNode } {
  const [shelved, setShelved] = useState<MessageFile>()
  /** In which collection a file is by now. */
  const [places, setPlaces] = useState<ReadonlyMap<string, string>>(new Map())
  const offerOf = (file: ChosenFile): Offer | undefined => {
    const { kept } = file
    if (TABLE.test(file.name)) return { words: "Ask the analyst about it", take: () => void toAnalyst(file) }
    // From where it is uploaded it goes on to the library by itself.
    if (!kept || !PAPER.test(file.name)) return undefined
    const place = places.get(kept.id)
    if (place === undefined) return { words: "Put it into the library", take: () => setShelved(kept) }
    return { words: `In the library: ${place}`, take: () => navigate("/library") }
  }
  const dialog = shelved && (
    <LibraryDialog
      file={shelved}
      onClose={() => setShelved(undefined)}
      onDone={(collection) => {
        setPlaces(new Map([...places, [shelved.id, collection]]))
        setShelved(undefined)
      }}
    />
  )
  return { offerOf, dialog }
}

/** The page for databases reads it and shows what would be made of it. */
async function toAnalyst({ name, blob, kept }: ChosenFile): Promise<void> {
  await attempt(async () => {
    if (blob) bring(blob)
    // Taken back with its words, so it is the server that has it.
    else if (kept) bring(new File([await (await client.readFile({ params: { id: kept.id } })).blob()], name))
    navigate("/settings/connections")
  })
}
