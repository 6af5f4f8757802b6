import { useEffect, useState } from "react"
import { Database, FileUp, Flask, Plug } from "../components/icons.tsx"
import { Button, ButtonLink, CopyButton, Link } from "../components/button.tsx"
import { attempt } from "../components/explain.ts"
import { Plain } from "../components/plain.tsx"
import { useLoaded } from "../components/use-loaded.tsx"
import { base, client } from "../state/client.ts"
import { type Catalogue, refreshModels } from "../state/catalogue.ts"
import { connectSample } from "../state/connections.ts"
import { navigate } from "../state/router.ts"
import { rich, t } from "../strings/strings.ts"

interface ConnectModelProps {
  readonly models: Catalogue["models"]
  readonly chosen: string | undefined
}

type LocalServer = NonNullable<Catalogue["models"]["localServers"]>["items"][number]

/** For a person who talks to the offline model: what it cannot do, and how to connect a model. */
export function ConnectModel({ models, chosen }: ConnectModelProps) {
  const current = models.items.find(({ name }) => name === (chosen ?? models.default))
  if (current?.provider !== "offline") return null
  const { items: servers = [], mayConnect = false } = models.localServers ?? {}
  return (
    <section
      className="mt-8 space-y-2.5 rounded-xl bg-sunken px-4 py-3 text-sm"
      aria-label={t("conversation.connectModel")}
    >
      <div className="flex flex-wrap items-center gap-x-2.5 gap-y-2">
        <Plug className="size-4 shrink-0 text-accent" aria-hidden="true" />
        <p className="min-w-0 flex-1 basis-56">{t("conversation.offlineModel")}</p>
        <ButtonLink to="/settings/models" small look={servers.length > 0 ? "plain" : "main"}>
          {t("conversation.connectModel")}
        </ButtonLink>
      </div>
      {servers.map((server) => (
        <FoundServer key={server.baseUrl} server={server} mayConnect={mayConnect} />
      ))}
    </section>
  )
}

/** A model server on the machine of the Pawl server: a button connects it, or the variable for the operator is shown. */
function FoundServer({ server, mayConnect }: { readonly server: LocalServer; readonly mayConnect: boolean }) {
  const { label, models, provider, baseUrl, variable } = server
  const assignment = `${variable}=${baseUrl}`
  const connect = () =>
    attempt(async () => {
      await client.saveProvider({ params: { name: provider }, body: { baseUrl } })
      await refreshModels(true)
    })
  return (
    <div className="flex flex-wrap items-center gap-x-2.5 gap-y-2 pl-6.5 text-soft">
      <p className="min-w-0 flex-1 basis-56 [overflow-wrap:anywhere]">
        {rich("conversation.serverFound", {
          label,
          count: models.length,
          first: <Plain text={models[0] ?? ""} />,
          more: models.length - 1,
        })}
        {!mayConnect && (
          <> {rich("conversation.serverVariable", { variable: <code className="text-ink">{assignment}</code> })}</>
        )}
      </p>
      {mayConnect ? (
        <Button small look="main" onClick={() => void connect()}>
          {t("conversation.useServer", { label })}
        </Button>
      ) : (
        <CopyButton label={t("conversation.copyVariable")} read={() => assignment} />
      )}
    </div>
  )
}

interface FirstDatabaseProps {
  readonly onMade: (connectionId: string) => void
}

/** Offers the sample database or a connection form to a person without a connection. */
export function FirstDatabase({ onMade }: FirstDatabaseProps) {
  const [isSent, setSent] = useState(false)
  const trySample = async () => {
    setSent(true)
    await attempt(async () => onMade((await connectSample()).id))
    setSent(false)
  }
  const settings = () => navigate("/settings/connections")
  return (
    <section aria-label={t("conversation.databaseToAsk")} className="mt-6 rounded-xl bg-sunken px-4 py-3.5 text-sm">
      <p className="mb-3 text-soft">{t("conversation.firstDatabase")}</p>
      <div className="flex flex-wrap gap-2">
        <Button look="main" disabled={isSent} onClick={() => void trySample()}>
          <Flask className="size-4" /> {t("conversation.trySample")}
        </Button>
        <Button onClick={settings}>
          <Database className="size-4" /> {t("conversation.connectOwn")}
        </Button>
        <Button onClick={settings}>
          <FileUp className="size-4" /> {t("conversation.uploadCsv")}
        </Button>
      </div>
    </section>
  )
}

/** Explains how to connect a folder with a terminal. */
export function NoFolder() {
  const command = `PAWL_TOKEN=… npx pawl chat --server ${location.origin}${base}`
  return (
    <div className="px-2.5 pt-1.5 pb-1 text-[13px] leading-snug text-soft">
      <p>
        {rich("conversation.noFolder", {
          link: (inner) => (
            <Link to="/settings/tokens" className="text-accent underline underline-offset-2">
              {inner}
            </Link>
          ),
        })}
      </p>
      <div className="mt-1.5 flex items-center gap-1 rounded-lg border border-line bg-sunken pl-2.5">
        <code
          tabIndex={0}
          className="min-w-0 flex-1 overflow-x-auto py-1.5 font-mono text-xs whitespace-nowrap text-ink"
        >
          {command}
        </code>
        <CopyButton label={t("conversation.copyCommand")} read={() => command} />
      </div>
    </div>
  )
}

/** Poll interval while no folder is connected: the terminal is started on the same machine, and no event reports it. */
const POLL_MS = 5000

/** The device of the agent `files`: null if none is connected, undefined until it is known. */
export function useFolder(isWanted: boolean): string | null | undefined {
  const { value, reload } = useLoaded(async () => {
    if (!isWanted) return undefined
    const { items } = await client.listDevices()
    return items.find(({ offers }) => offers.includes("files"))?.deviceId ?? null
  })
  useEffect(() => {
    if (isWanted) void reload()
  }, [isWanted, reload])
  const isMissing = isWanted && value === null
  useEffect(() => {
    if (!isMissing) return
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") void reload()
    }, POLL_MS)
    return () => clearInterval(timer)
  }, [isMissing, reload])
  return value
}
