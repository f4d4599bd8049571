// What the pages use of Observable Plot. Add a mark here, then rebuild with: npm ci && npm run build
export {areaY, axisX, axisY, barX, dot, gridX, gridY, lineY, link, plot, pointer, rectX, ruleX, ruleY, text, tip} from "@observablehq/plot";
