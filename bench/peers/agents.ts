import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"

/** A terminal agent, run without a user and with all commands approved, as its documentation describes. */
export interface TerminalAgent {
  readonly name: string
  /** Its package on npm; missing for this checkout. */
  readonly from?: { readonly package: string; readonly version: string; readonly bin: string }
  readonly environment: (provider: string) => Record<string, string>
  /** Settings that it reads from its home folder. */
  readonly prepare?: (home: string, provider: string) => Promise<void>
  readonly ask: readonly string[]
  readonly goOn: readonly string[]
}

const write = async (folder: string, name: string, content: unknown): Promise<void> => {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, name), typeof content === "string" ? content : JSON.stringify(content))
}

/** Agents that npm has for x86_64 and arm64. */
export const AGENTS: readonly TerminalAgent[] = [
  {
    name: "pawl",
    environment: (provider) => ({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: `${provider}/v1`, PAWL_MODEL: "openai/m" }),
    ask: ["exec", "--dir", ".", "--mode", "auto"],
    goOn: ["exec", "--dir", ".", "--continue"],
  },
  {
    name: "opencode",
    from: { package: "opencode-ai", version: "1.18.18", bin: "opencode" },
    environment: () => ({ OPENCODE_DISABLE_AUTOUPDATE: "1" }),
    prepare: (home, provider) =>
      write(join(home, ".config/opencode"), "opencode.json", {
        model: "local/m",
        permission: { bash: "allow" },
        provider: {
          local: {
            npm: "@ai-sdk/openai-compatible",
            options: { baseURL: `${provider}/v1`, apiKey: "k" },
            models: { m: { name: "m" } },
          },
        },
      }),
    ask: ["run"],
    goOn: ["run", "--continue"],
  },
  {
    name: "qwen-code",
    from: { package: "@qwen-code/qwen-code", version: "0.24.4", bin: "qwen" },
    environment: (provider) => ({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: `${provider}/v1`, OPENAI_MODEL: "m" }),
    prepare: (home) => write(join(home, ".qwen"), "settings.json", { security: { auth: { selectedType: "openai" } } }),
    ask: ["--yolo", "-p"],
    goOn: ["--continue", "--yolo", "-p"],
  },
  {
    name: "pi",
    from: { package: "@earendil-works/pi-coding-agent", version: "0.87.1", bin: "pi" },
    environment: () => ({ PI_OFFLINE: "1" }),
    prepare: (home, provider) =>
      write(join(home, ".pi/agent"), "models.json", {
        providers: {
          local: { baseUrl: `${provider}/v1`, api: "openai-completions", apiKey: "k", models: [{ id: "m" }] },
        },
      }),
    ask: ["--model", "local/m", "-p"],
    goOn: ["--model", "local/m", "--continue", "-p"],
  },
  {
    name: "Claude Code",
    from: { package: "@anthropic-ai/claude-code", version: "2.1.325", bin: "claude" },
    environment: (provider) => ({
      ANTHROPIC_BASE_URL: provider,
      ANTHROPIC_API_KEY: "k",
      IS_SANDBOX: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    }),
    ask: ["--dangerously-skip-permissions", "-p"],
    goOn: ["--continue", "--dangerously-skip-permissions", "-p"],
  },
  {
    name: "Codex CLI",
    from: { package: "@openai/codex", version: "0.166.0", bin: "codex" },
    environment: () => ({ LOCAL_KEY: "k" }),
    prepare: (home, provider) =>
      write(
        join(home, ".codex"),
        "config.toml",
        `model = "m"\nmodel_provider = "local"\n[model_providers.local]\nname = "local"\nbase_url = "${provider}/v1"\nenv_key = "LOCAL_KEY"\nwire_api = "responses"\n`,
      ),
    ask: ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"],
    goOn: ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "resume", "--last"],
  },
]
