/** A tool that does what Drover does. */
import { debianPackage, type DebianPackage } from "../../scripts/servers/index.js";
import { progress } from "../progress.js";

/** From Debian's unstable suite: newer than a release's, and it brings its own libraries. */
export async function unpackPeer(name: string): Promise<DebianPackage> {
  return await debianPackage([name], { log: progress });
}

export function reasonOf(error: unknown): string {
  // a program's error quotes its command line
  return (error instanceof Error ? error.message : String(error)).replaceAll(/(\bpassword=|,p=)\S+/g, "$1…").slice(-500);
}
