import type { ComponentType } from "react"
import { ConnectionSettings } from "../connections/connection-settings.tsx"
import { attempt } from "../components/explain.ts"
import { Labelled, Select } from "../components/form.tsx"
import { Link } from "../components/button.tsx"
import { Section } from "../components/section.tsx"
import { SharedRunList, useSharedRuns } from "../runs/shared-run-list.tsx"
import { MissingPage, TextPage } from "../shell/page-header.tsx"
import { useHasTool } from "../state/catalogue.ts"
import { useStore } from "../state/store.ts"
import { type Theme, chooseTheme, theme } from "../state/theme.ts"
import { LANGUAGES, type Language, chooseLanguage, useLanguage } from "../strings/language.ts"
import { type Key, t } from "../strings/strings.ts"
import { ConnectSettings } from "./connect/connect-settings.tsx"
import { DataSettings } from "./data-settings.tsx"
import { DeviceSettings } from "./device-settings.tsx"
import { McpSettings } from "./mcp-settings.tsx"
import { ModelSettings } from "./model-settings.tsx"
import { SessionSettings } from "./session-settings.tsx"
import { TokenSettings } from "./token-settings.tsx"
import { UsageSettings } from "./usage-settings.tsx"

interface Section {
  readonly path: string
  readonly label: Key
  readonly draw: ComponentType
  /** It is listed only if an agent has this tool. */
  readonly tool?: string
}

const sections: readonly Section[] = [
  { path: "models", label: "settings.models", draw: ModelSettings },
  { path: "connect", label: "settings.connect", draw: ConnectSettings },
  { path: "tokens", label: "settings.tokens", draw: TokenSettings },
  { path: "sessions", label: "settings.sessions", draw: SessionSettings },
  { path: "devices", label: "settings.devices", draw: DeviceSettings },
  { path: "connections", label: "settings.connections", draw: ConnectionSettings, tool: "ask_database" },
  { path: "mcp", label: "settings.mcpServers", draw: McpSettings },
  { path: "usage", label: "settings.usage", draw: UsageSettings },
  { path: "shared", label: "settings.sharedRuns", draw: SharedSettings },
  { path: "appearance", label: "settings.appearance", draw: AppearanceSettings },
  { path: "data", label: "settings.yourData", draw: DataSettings },
]

export function SettingsPage({ section = "models" }: { readonly section?: string }) {
  const hasTool = useHasTool()
  const shown = sections.find(({ path }) => path === section)
  if (!shown) return <MissingPage />
  const listed = sections.filter(({ tool }) => tool === undefined || hasTool(tool))
  return (
    <TextPage title={t("settings.title")}>
      <ul aria-label={t("settings.title")} className="mb-5 flex flex-wrap gap-1 border-b border-line pb-2">
        {listed.map(({ path, label }) => (
          <li key={path}>
            <Link
              to={`/settings/${path}`}
              aria-current={path === section ? "page" : undefined}
              className="block rounded-lg px-3 py-1 text-sm text-soft hover:bg-sunken hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:text-accent"
            >
              {t(label)}
            </Link>
          </li>
        ))}
      </ul>
      <shown.draw key={shown.path} />
    </TextPage>
  )
}

/** Language and colours of the page, remembered in this browser. */
function AppearanceSettings() {
  const language = useLanguage()
  const colours = useStore(theme)
  return (
    <Section title={t("settings.appearance")} says={t("settings.appearanceHint")}>
      <div className="max-w-xs space-y-4">
        <Labelled label={t("settings.language")}>
          <Select
            value={language}
            choices={Object.entries(LANGUAGES)}
            onChoose={(chosen) => void attempt(() => chooseLanguage(chosen as Language))}
          />
        </Labelled>
        <Labelled label={t("settings.theme")}>
          <Select
            value={colours}
            choices={[
              ["system", t("settings.themeSystem")],
              ["light", t("settings.themeLight")],
              ["dark", t("settings.themeDark")],
            ]}
            onChoose={(chosen) => chooseTheme(chosen as Theme)}
          />
        </Labelled>
      </div>
    </Section>
  )
}

/** The user's links to runs that are still valid. */
function SharedSettings() {
  const shared = useSharedRuns()
  return (
    <Section title={t("settings.sharedRuns")} says={t("settings.sharedRunsHint")}>
      <SharedRunList {...shared} />
      {shared.value?.length === 0 && <p className="text-sm text-soft">{t("settings.sharedRunsEmpty")}</p>}
    </Section>
  )
}
