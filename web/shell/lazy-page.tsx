import { type ComponentType, lazy, type LazyExoticComponent, Suspense } from "react"
import { Button } from "../parts/button.tsx"
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

/** The server has a newer page than the one in this tab, or is away. */
function NotLoaded() {
  return (
    <>
      <PageHeader title="Not loaded" />
      <div className="grid flex-1 place-items-center p-6 text-center">
        <div>
          <h2 className="mb-2 font-serif text-2xl">This page could not be loaded</h2>
          <p className="mb-5 text-soft">The server may be away, or have a newer version of it.</p>
          <Button look="main" onClick={() => location.reload()}>
            Reload
          </Button>
        </div>
      </div>
    </>
  )
}
