import { useState } from "react"
import { Button, CopyButton } from "../../components/button.tsx"
import { Command, Section } from "../../components/section.tsx"
import { useAttempt } from "../../components/explain.ts"
import { useShell } from "../../shell/page.ts"
import { client } from "../../state/client.ts"
import { NO_TOKEN, type Program, programs, TOKEN_DAYS } from "./programs.ts"
import { rich, t } from "../../strings/strings.ts"
import { scopeNames } from "../token-settings.tsx"

/** Configuration to paste into other programs, with the address of this server and a token that is shown once. */
export function ConnectSettings() {
  const [path, setPath] = useState(programs[0]!.path)
  const chosen = programs.find((program) => program.path === path) ?? programs[0]!
  return (
    <Section title={t("settings.connect")} says={t("settings.connectHint")}>
      <ul aria-label={t("settings.programs")} className="mb-4 flex flex-wrap gap-1.5">
        {programs.map((program) => (
          <li key={program.path}>
            <button
              type="button"
              aria-pressed={program === chosen}
              onClick={() => setPath(program.path)}
              className="rounded-lg border border-line px-3 py-1 text-sm hover:bg-sunken aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent"
            >
              {t(program.name)}
            </button>
          </li>
        ))}
      </ul>
      <Lines key={chosen.path} program={chosen} />
    </Section>
  )
}

function Lines({ program }: { readonly program: Program }) {
  const { identity } = useShell()
  const [token, setToken] = useState<string>()
  const lacking = (["manage", ...program.scopes] as const).filter((scope) => !identity.scopes.includes(scope))
  const lines = program.lines(location.origin, token ?? NO_TOKEN)
  const { once, isBusy } = useAttempt()
  const make = () =>
    once(async () => {
      const body = { name: t(program.name), scopes: [...program.scopes], days: TOKEN_DAYS }
      const made = await client.createToken({ body })
      setToken(made.token)
    })
  return (
    <div className="space-y-3">
      <p className="text-sm">{t(program.hint)}</p>
      <div className="flex items-center gap-2 text-sm text-soft">
        <span className="flex-1">{t(program.into)}</span>
        <CopyButton label={t("settings.copyLines")} read={() => lines} />
      </div>
      <Command>{lines}</Command>
      {token !== undefined && (
        <p role="status" className="rounded-xl bg-good-soft px-4 py-3 text-sm text-good">
          {t("settings.connectTokenAdded", { permissions: scopeNames(program.scopes), days: TOKEN_DAYS })}
        </p>
      )}
      {token === undefined && lacking.length === 0 && (
        <Button look="main" disabled={isBusy} onClick={() => void make()}>
          {t("settings.addToken")}
        </Button>
      )}
      {token === undefined && lacking.length > 0 && (
        <p className="text-sm text-soft">{t("settings.connectLacking", { permissions: scopeNames(lacking) })}</p>
      )}
      <p className="text-[13px] text-faint">
        {rich("settings.connectDocs", {
          link: (inner) => (
            <a href={`/docs/${program.docs}.html`} target="_blank" rel="noreferrer" className="underline">
              {inner}
            </a>
          ),
        })}
      </p>
    </div>
  )
}
