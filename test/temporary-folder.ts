/**
 * The folder that `os.tmpdir()` names during a run of the tests, in their workers and in all programs
 * that they start: what any of them leaves in it goes when the run ends. (Workers are killed when their
 * file is done, so that a listener of theirs for "exit" is never called.)
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** Called by vitest before the first worker starts. Returns what it calls at the end. */
export function setup(): () => void {
  const folder = mkdtempSync(path.join(tmpdir(), "warmloop-test-"));
  process.env.TMPDIR = folder;
  process.env.XDG_STATE_HOME = path.join(folder, "state"); // where started servers store responses
  return () => rmSync(folder, { recursive: true, force: true });
}
