import { useState } from "react"
import { type Scope, scopes } from "../../../core/protocol/index.ts"
import { Button, CopyButton } from "../components/button.tsx"
import { Confirm } from "../components/dialog.tsx"
import { attempt } from "../components/explain.ts"
import { Form, Labelled, Select, SubmitButton } from "../components/form.tsx"
import { Plain } from "../components/plain.tsx"
import { useShell } from "../shell/page.ts"
import { TOKEN_DAYS } from "./connect/programs.ts"
import { client } from "../state/client.ts"
import { Section, ItemList } from "../components/section.tsx"
import { readPages } from "../../../client/index.ts"
import { useLoaded } from "../components/use-loaded.tsx"
import { day, time } from "../strings/format.ts"
import { type Key, t } from "../strings/strings.ts"

const LABELS: Readonly<Record<Scope, Key>> = {
  read: "settings.scopeRead",
  chat: "settings.scopeChat",
  approve: "settings.scopeApprove",
  manage: "settings.scopeManage",
  admin: "settings.scopeAdmin",
  "self-approve": "settings.scopeSelfApprove",
}

/** The permissions by their labels, such as `Read, Send messages`. */
export const scopeNames = (allowed: readonly Scope[]): string => allowed.map((scope) => t(LABELS[scope])).join(", ")

/** The scopes that most programs need. */
const FIRST_TICKED: readonly Scope[] = ["read", "chat"]

const FOREVER = "forever"

/** Tokens for programs. A new token is shown once. */
export function TokenSettings() {
  const { value, reload, trouble } = useLoaded(() => readPages((query) => client.listTokens({ query })))
  const [made, setMade] = useState<string>()
  const [revoking, setRevoking] = useState<{ readonly id: string; readonly name: string }>()
  return (
    <Section title={t("settings.tokens")} says={t("settings.tokensHint")}>
      {trouble}
      {made !== undefined && (
        <div role="status" className="mb-4 rounded-xl bg-good-soft px-4 py-3 text-sm">
          <p className="mb-2 text-good">{t("settings.tokenCopyNow")}</p>
          <div className="flex items-center gap-2">
            <code className="min-w-0 flex-1 font-mono text-[13px] [overflow-wrap:anywhere]">{made}</code>
            <CopyButton label={t("settings.copyToken")} read={() => made} />
            <Button small onClick={() => setMade(undefined)}>
              {t("settings.done")}
            </Button>
          </div>
        </div>
      )}
      <NewToken
        onMade={async (token) => {
          setMade(token)
          await reload()
        }}
      />
      {value && value.length > 0 && (
        <ItemList>
          {value.map(({ id, name, scopes: allowed, createdAt, expiresAt }) => (
            <li key={id} className="flex items-center gap-3 px-3.5 py-2">
              <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
                <Plain text={name ?? t("settings.tokenUnnamed")} />
                <span className="block text-[13px] text-faint">
                  {scopeNames(allowed)} · {t("settings.tokenCreated", { time: time(createdAt) })} ·{" "}
                  {expiresAt === null
                    ? t("settings.expirationNever")
                    : t("settings.tokenExpires", { day: day(expiresAt) })}
                </span>
              </span>
              <Button small onClick={() => setRevoking({ id, name: name ?? t("settings.tokenUnnamed") })}>
                {t("settings.revoke")}
              </Button>
            </li>
          ))}
        </ItemList>
      )}
      {revoking && (
        <Confirm
          title={t("settings.revokeToken")}
          name={revoking.name}
          says={t("settings.revokeTokenHint")}
          act={t("settings.revoke")}
          onClose={() => setRevoking(undefined)}
          onAct={() => {
            setRevoking(undefined)
            void attempt(() => client.revokeToken({ params: { id: revoking.id } })).then(reload)
          }}
        />
      )}
    </Section>
  )
}

function NewToken({ onMade }: { readonly onMade: (token: string) => Promise<void> }) {
  const { identity } = useShell()
  const [name, setName] = useState("")
  const [chosen, setChosen] = useState<readonly Scope[]>(
    FIRST_TICKED.filter((scope) => identity.scopes.includes(scope)),
  )
  const [term, setTerm] = useState<string>(String(TOKEN_DAYS))
  const terms: readonly (readonly [string, string])[] = [
    ["30", t("settings.expirationDays", { days: 30 })],
    ["90", t("settings.expirationDays", { days: 90 })],
    ["365", t("settings.expirationYear")],
    [FOREVER, t("settings.expirationNever")],
  ]
  const make = async () => {
    const days = term === FOREVER ? {} : { days: Number(term) }
    const body = { scopes: [...chosen], ...days, ...(name.trim() ? { name: name.trim() } : {}) }
    const { token } = await client.createToken({ body })
    setName("")
    await onMade(token)
  }
  return (
    <Form className="mb-4 space-y-3 rounded-xl bg-sunken px-4 py-3" onSubmit={make}>
      <Labelled label={t("settings.tokenName")} field="name">
        <input value={name} maxLength={100} onChange={(event) => setName(event.target.value)} className="field" />
      </Labelled>
      <fieldset className="text-sm">
        <legend className="mb-1 text-soft">{t("settings.permissions")}</legend>
        <div className="flex flex-wrap gap-x-4 gap-y-1">
          {scopes
            .filter((scope) => identity.scopes.includes(scope))
            .map((scope) => (
              <label key={scope} className="flex items-center gap-2">
                <input
                  type="checkbox"
                  checked={chosen.includes(scope)}
                  onChange={({ target }) =>
                    setChosen(target.checked ? [...chosen, scope] : chosen.filter((each) => each !== scope))
                  }
                />
                {t(LABELS[scope])}
              </label>
            ))}
        </div>
      </fieldset>
      <Labelled label={t("settings.expiration")} className="max-w-52">
        <Select value={term} choices={terms} onChoose={setTerm} />
      </Labelled>
      <SubmitButton look="main" disabled={chosen.length === 0}>
        {t("settings.createToken")}
      </SubmitButton>
    </Form>
  )
}
