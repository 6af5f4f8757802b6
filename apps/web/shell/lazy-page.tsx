import { type ComponentType, lazy, type LazyExoticComponent, Suspense, useEffect, useState } from "react"
import { canRetry } from "../../../client/index.ts"
import { Button } from "../components/button.tsx"
import { client } from "../state/client.ts"
import { useAutoRetry } from "../state/auto-retry.ts"
import { withStrings } from "../strings/language.ts"
import { PageHeader } from "./page-header.tsx"
import { t } from "../strings/strings.ts"

/** A page whose code and messages are loaded when it is first shown. If that fails, the page says so. */
export function lazyPage<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const Page = lazy(() =>
    withStrings(load).then(
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

/** The server has a newer page than this tab, or is unreachable: the page is reloaded when it is back. */
function NotLoaded() {
  const [away, setAway] = useState<unknown>()
  const look = async (wasAway: boolean) => {
    try {
      await client.readIdentity()
      // Only after it was unreachable: a file that is missing on the server would cause a reload loop.
      if (wasAway) location.reload()
    } catch (error) {
      if (canRetry(error)) setAway(error)
      else location.reload()
    }
  }
  useEffect(() => void look(false), [])
  useAutoRetry(away, () => look(true))
  return (
    <>
      <PageHeader title={t("shell.notLoaded")} />
      <div className="grid flex-1 place-items-center p-6 text-center">
        <div>
          <h2 className="mb-2 font-serif text-2xl">{t("shell.notLoadedTitle")}</h2>
          <p className="mb-5 text-soft">{t(away === undefined ? "shell.newerVersion" : "shell.awayHint")}</p>
          <Button look="main" onClick={() => location.reload()}>
            {t("common.reload")}
          </Button>
        </div>
      </div>
    </>
  )
}
