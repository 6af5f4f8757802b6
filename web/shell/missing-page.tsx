import { Button } from "../parts/button.tsx"
import { navigate } from "../state/router.ts"
import { PageHeader } from "./page-header.tsx"

/** An address that leads nowhere. */
export function MissingPage({ says = "There is nothing here, or it is not yours." }: { readonly says?: string }) {
  return (
    <>
      <PageHeader title="Nothing here" />
      <div className="grid flex-1 place-items-center p-6 text-center">
        <div>
          <h2 className="mb-2 font-serif text-2xl">Nothing here</h2>
          <p className="mb-5 text-soft">{says}</p>
          <Button look="main" onClick={() => navigate("/")}>
            Start a conversation
          </Button>
        </div>
      </div>
    </>
  )
}
