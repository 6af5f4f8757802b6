import { useState } from "react"
import { Button } from "../parts/button.tsx"
import { Part } from "../parts/part.tsx"
import { useLoaded } from "../parts/use-loaded.tsx"
import { useAttempt } from "../parts/use-attempt.ts"
import { PageHeader } from "../shell/page-header.tsx"
import { client } from "../state/client.ts"
import { readPages } from "../state/read-pages.ts"
import { CollectionPart } from "./collection-part.tsx"

/** The person's collections of documents: what the research agent finds passages in. */
export function LibraryPage() {
  const { value, reload, trouble } = useLoaded(() => readPages((query) => client.listCollections({ query })))
  return (
    <>
      <PageHeader title="Library" />
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto w-full max-w-3xl px-3 pb-8 md:px-6">
          {trouble}
          {value?.length === 0 && (
            <div className="pt-[8vh] pb-8 text-center">
              <h2 className="mb-2 font-serif text-2xl">No documents yet</h2>
              <p className="text-soft">
                Make a collection and drop papers or notes into it. Then ask the research agent: its answers point at
                the passages they rest on.
              </p>
            </div>
          )}
          {value?.map((collection) => (
            <CollectionPart key={collection.id} collection={collection} onChange={reload} />
          ))}
          <NewCollection onDone={reload} />
        </div>
      </div>
    </>
  )
}

function NewCollection({ onDone }: { readonly onDone: () => Promise<void> }) {
  const [name, setName] = useState("")
  const { once, isBusy } = useAttempt()
  const make = () =>
    once(async () => {
      await client.createCollection({ body: { name } })
      setName("")
    }).then(onDone)
  return (
    <Part title="New collection">
      <form
        className="flex flex-wrap gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          void make()
        }}
      >
        <input
          className="field min-w-48 flex-1"
          aria-label="Name of the collection"
          placeholder="Papers on wings"
          value={name}
          maxLength={200}
          required
          onChange={(event) => setName(event.target.value)}
        />
        <Button type="submit" disabled={isBusy}>
          Make it
        </Button>
      </form>
    </Part>
  )
}
