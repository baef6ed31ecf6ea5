// The parts of ECharts that the charts of report.html use. A part that is not named here is not in
// the page.
import { use, init } from "echarts/core";
import { CustomChart, LineChart } from "echarts/charts";
import { GridComponent, MarkLineComponent, TooltipComponent } from "echarts/components";
import { SVGRenderer } from "echarts/renderers";

use([CustomChart, LineChart, GridComponent, MarkLineComponent, TooltipComponent, SVGRenderer]);

export { init };
