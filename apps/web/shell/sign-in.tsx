import { useEffect, useState } from "react"
import { Button } from "../components/button.tsx"
import { attempt, explain } from "../components/explain.ts"
import { Plain } from "../components/plain.tsx"
import { client } from "../state/client.ts"
import { goToIssuer } from "../state/identity.ts"
import { useAutoRetry } from "../state/auto-retry.ts"
import { rich, t } from "../strings/strings.ts"
import { Logo } from "./logo.tsx"

interface DoorProps {
  readonly error?: unknown
  readonly onRetry?: () => void
  /** `half`: the cookie exists, but not the secret that this page stored with it. */
  readonly why?: "half" | undefined
}

/** The page of a person who is not signed in. */
export function SignIn({ error, onRetry, why }: DoorProps) {
  useAutoRetry(error, () => onRetry?.())
  return (
    <main className="grid min-h-full place-items-center p-6">
      <div className="w-full max-w-md">
        <Logo className="mb-6 size-11" />
        <h1 className="mb-3 font-serif text-3xl tracking-tight">
          {t(onRetry ? "shell.unreachableTitle" : "shell.signInTitle")}
        </h1>
        {onRetry ? (
          <>
            <p className="mb-5 text-soft">
              {explain(error)} {t("shell.reconnects")}
            </p>
            <Button look="main" onClick={onRetry}>
              {t("common.retry")}
            </Button>
          </>
        ) : (
          <div className="space-y-3 text-soft">
            {why === "half" && (
              <p role="status" className="text-ink">
                {t("shell.signInLost")}
              </p>
            )}
            <IssuerButton />
            <p>{t("shell.signInByLink")}</p>
            <p>{t("shell.signInCommand")}</p>
            <pre className="overflow-x-auto rounded-xl border border-line bg-surface px-4 py-3 font-mono text-sm text-ink">
              npx pawl invite --user NAME
            </pre>
          </div>
        )}
      </div>
    </main>
  )
}

/**
 * The button of the operator's issuer, for sign-in without a link. Nothing if the request fails; links are explained
 * below.
 */
function IssuerButton() {
  const [label, setLabel] = useState<string>()
  const [isGoing, setGoing] = useState(false)
  useEffect(() => {
    client.readSignInWays().then(
      ({ oidc }) => setLabel(oidc?.label),
      () => {},
    )
  }, [])
  if (label === undefined) return null
  const go = async () => {
    setGoing(true)
    if (!(await attempt(goToIssuer))) setGoing(false)
  }
  return (
    <Button look="main" disabled={isGoing} onClick={() => void go()}>
      {rich("shell.signInWith", { name: <Plain text={label} /> })}
    </Button>
  )
}
