import { type ComponentType, lazy, type LazyExoticComponent, Suspense, useEffect, useState } from "react"
import { mayPass } from "../../src/client/index.ts"
import { Button } from "../parts/button.tsx"
import { client } from "../state/client.ts"
import { useTryAgain } from "../state/when-back.ts"
import { PageHeader } from "./page-header.tsx"

/** A page whose code comes when it is first shown. Where it does not come, the page says so instead of going blank. */
export function lazyPage<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const Page = lazy(() =>
    load().then(
      (loaded) => ({ default: loaded }),
      () => ({ default: NotLoaded as ComponentType<Props> }),
    ),
  ) as LazyExoticComponent<ComponentType<object>>
  return function LazyPage(props: Props) {
    return (
      <Suspense fallback={<PageHeader title="Pawl" />}>
        <Page {...props} />
      </Suspense>
    )
  }
}

/** The server has a newer page than the one in this tab, or is away: then the page is loaded when it is back. */
function NotLoaded() {
  const [away, setAway] = useState<unknown>()
  const look = async (wasAway: boolean) => {
    try {
      await client.readIdentity()
      // Only where it really was away: what this server has not would be loaded in a circle.
      if (wasAway) location.reload()
    } catch (error) {
      if (mayPass(error)) setAway(error)
      else location.reload()
    }
  }
  useEffect(() => void look(false), [])
  useTryAgain(away, () => look(true))
  return (
    <>
      <PageHeader title="Not loaded" />
      <div className="grid flex-1 place-items-center p-6 text-center">
        <div>
          <h2 className="mb-2 font-serif text-2xl">This page could not be loaded</h2>
          <p className="mb-5 text-soft">
            {away === undefined
              ? "The server may have a newer version of it."
              : "The server cannot be reached. The page comes by itself when it is back."}
          </p>
          <Button look="main" onClick={() => location.reload()}>
            Reload
          </Button>
        </div>
      </div>
    </>
  )
}
