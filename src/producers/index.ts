/** The package's main entry: the clients, and the settings that they can be made from. */
export * from "./client/index.js";
export { loadConfig, type Config } from "../shared/config.js";
