import { readPages } from "../../../client/index.ts"
import { Monitor } from "../components/icons.tsx"
import { Button } from "../components/button.tsx"
import { attempt } from "../components/explain.ts"
import { Section, ItemList } from "../components/section.tsx"
import { Plain } from "../components/plain.tsx"
import { useLoaded } from "../components/use-loaded.tsx"
import { client } from "../state/client.ts"
import { toast } from "../state/toasts.ts"
import { time } from "../strings/format.ts"
import { t } from "../strings/strings.ts"

/** The browsers that are signed in. */
export function SessionSettings() {
  const { value, reload, trouble } = useLoaded(() => readPages((query) => client.listSessions({ query })))
  const others = value?.filter(({ current }) => !current) ?? []
  const end = (ids: readonly string[]) =>
    attempt(async () => {
      for (const id of ids) await client.revokeSession({ params: { id } })
      toast(t(ids.length === 1 ? "settings.signedOutOne" : "settings.signedOutOthers"))
    }).then(reload)
  return (
    <Section title={t("settings.sessions")} says={t("settings.sessionsHint")}>
      {trouble}
      <ItemList>
        {value?.map(({ id, browser, createdAt, expiresAt, current }) => (
          <li key={id} className="flex items-center gap-3 px-3.5 py-2">
            <Monitor className="size-4 shrink-0 text-faint" aria-hidden="true" />
            <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
              <Plain text={browser === null ? t("settings.browserUnknown") : browserName(browser)} />
              <span className="block text-[13px] text-faint">
                {t("settings.sessionTimes", { from: time(createdAt), until: time(expiresAt) })}
              </span>
            </span>
            {current ? (
              <span className="text-[13px] text-good">{t("settings.sessionCurrent")}</span>
            ) : (
              <Button small onClick={() => void end([id])}>
                {t("shell.signOut")}
              </Button>
            )}
          </li>
        ))}
      </ItemList>
      {others.length > 0 && (
        <Button className="mt-3" onClick={() => void end(others.map(({ id }) => id))}>
          {t("settings.signOutOthers")}
        </Button>
      )}
    </Section>
  )
}

/** In this order, because a user agent also names the browsers that are compatible with it. */
const BROWSERS = [
  [/\bEdgA?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bFirefox\/|\bFxiOS\//, "Firefox"],
  [/Chrome\/|\bCriOS\//, "Chrome"],
  [/\bSafari\//, "Safari"],
] as const
const SYSTEMS = [
  [/\bAndroid\b/, "Android"],
  [/\biP(?:hone|ad)\b/, "iOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
] as const

/** `Firefox on Windows`, from the user agent. An unknown browser is shown by its user agent. */
export function browserName(userAgent: string): string {
  const nameIn = (known: readonly (readonly [RegExp, string])[]) =>
    known.find(([pattern]) => pattern.test(userAgent))?.[1]
  const [browser, system] = [nameIn(BROWSERS), nameIn(SYSTEMS)]
  if (browser === undefined) return userAgent
  return system === undefined ? browser : t("settings.browserOn", { browser, system })
}
