// Runs inside a page of warpmem sim --report; see browser.sh. What the page should be like stands in its query:
// rows=N, source (there is one), narrow, dark.
(function () {
    "use strict";
    var query = location.search.slice(1).split(",");
    var rows = Number(query[0].replace("rows=", ""));
    var results = document.createElement("pre");
    var table = document.querySelector("table.lines");

    function check(name, good, why) {
        results.textContent += (good ? "ok - " : "not ok - ") + name + (good || why === undefined ? "" : ": " + why) + "\n";
    }

    function all(selector, from) {
        return Array.from((from || document).querySelectorAll(selector));
    }

    function bodies() {
        return Array.from(table.tBodies);
    }

    // A cell by the words of its column's heading, found by where it stands on the screen: not as the page's script does it.
    function cellUnder(body, heading) {
        var middle = heading.getBoundingClientRect();
        var x = heading.classList.contains("n") ? middle.right - 2 : middle.left + 2;
        return Array.from(body.rows[0].cells).find(function (cell) {
            var box = cell.getBoundingClientRect();
            return x > box.left && box.right > x;
        }).textContent;
    }

    // -1: a stands in front of b, going up; empty cells behind all others, in either direction.
    function compare(a, b, isNumber, sign) {
        if (isNumber) {
            a = a === "-" ? NaN : Number(a.replace(/[,%]/g, ""));
            b = b === "-" ? NaN : Number(b.replace(/[,%]/g, ""));
            if (isNaN(a) || isNaN(b)) {
                return (isNaN(a) ? 1 : 0) - (isNaN(b) ? 1 : 0);
            }
            return sign * (a - b);
        }
        if (a === "" || b === "") {
            return (a === "" ? 1 : 0) - (b === "" ? 1 : 0);
        }
        return sign * a.localeCompare(b, "en", { numeric: true });
    }

    function isSorted(heading, sign) {
        var isNumber = heading.classList.contains("n");
        var texts = bodies().map(function (body) {
            return cellUnder(body, heading);
        });
        return texts.every(function (text, i) {
            return i === 0 || compare(texts[i - 1], text, isNumber, sign) <= 0;
        });
    }

    function luminance(color) {
        var parts = color.match(/[\d.]+/g).slice(0, 3).map(function (part) {
            var value = part / 255;
            return value <= 0.04045 ? value / 12.92 : Math.pow((value + 0.055) / 1.055, 2.4);
        });
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
    }

    // As WCAG 2 has it.
    function contrast(a, b) {
        var x = luminance(a);
        var y = luminance(b);
        return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
    }

    function background(element) {
        while (element) {
            var color = getComputedStyle(element).backgroundColor;
            if (color !== "rgba(0, 0, 0, 0)") {
                return color;
            }
            element = element.parentElement;
        }
        return "rgb(255, 255, 255)";
    }

    function checkPage() {
        var ids = all("[id]").map(function (element) {
            return element.id;
        });
        var faint = all("body *").filter(function (element) {
            var hasText = Array.from(element.childNodes).some(function (node) {
                return node.nodeType === Node.TEXT_NODE && node.textContent.trim() !== "";
            });
            return hasText && element.tagName !== "SCRIPT" &&
                4.5 > contrast(getComputedStyle(element).color, background(element));
        });

        check("standards mode", document.compatMode === "CSS1Compat");
        check("a language and a title", document.documentElement.lang === "en" && document.title !== "");
        check("one first heading", all("h1").length === 1);
        check("ids are unique", new Set(ids).size === ids.length);
        check("nothing was fetched", performance.getEntriesByType("resource").every(function (entry) {
            return entry.name.startsWith("data:");
        }));
        check("no name became a script", window.injected === undefined);
        check("no name became an element", all("svg, iframe, object, form, [onload], [onerror]").length === 0 &&
            all("script").length === 2);
        check("text can be told from what is behind it", faint.length === 0, faint.map(function (element) {
            return element.tagName + " " + element.className + " " + element.textContent.slice(0, 20);
        }).join("; "));
        check("the colour scheme", matchMedia("(prefers-color-scheme: dark)").matches === query.includes("dark"));
        check("the width", query.includes("narrow") === 600 > window.innerWidth, window.innerWidth);
        check("the page itself does not scroll sideways",
            window.innerWidth >= document.documentElement.scrollWidth,
            document.documentElement.scrollWidth + " of " + window.innerWidth);
    }

    function checkTables() {
        check("headings say what they head", all("table th").every(function (th) {
            return ["col", "row", "colgroup"].includes(th.scope);
        }));
        check("tables that may be too wide can be scrolled by the keyboard", all(".scroll").every(function (region) {
            return region.tabIndex === 0 && region.getAttribute("role") === "region" &&
                (region.hasAttribute("aria-label") || document.getElementById(region.getAttribute("aria-labelledby")));
        }));
        check("numbers stand to the right", all("table.lines td.n").every(function (cell) {
            return getComputedStyle(cell).textAlign === "right";
        }));
        check("bars are no news to a screen reader", all(".bar").every(function (bar) {
            return bar.getAttribute("aria-hidden") === "true";
        }));
        check("bars are as long as their cycles", bodies().every(function (body) {
            var longest = Math.max.apply(null, bodies().map(function (other) {
                return Number(other.querySelector("td.n + td.n").textContent.replace(/,/g, ""));
            }));
            var cycles = Number(body.querySelector("td.n + td.n").textContent.replace(/,/g, ""));
            var bar = body.querySelector(".bar");
            var length = all("i", bar).reduce(function (sum, part) {
                return sum + part.getBoundingClientRect().width;
            }, 0);
            return 2.5 > Math.abs(length - bar.getBoundingClientRect().width * cycles / longest);
        }));
    }

    function checkSorting() {
        var headings = all("[data-sort]", table);
        var before = bodies().map(function (body) {
            return body.textContent;
        }).sort().join();

        check("as many rows as there should be", bodies().length === rows, bodies().length);
        check("sorted by wasted cycles at first", all("[aria-sort]", table).length === 1 &&
            all("[aria-sort=descending]", table)[0].textContent === "Wasted cycles" &&
            isSorted(all("[aria-sort]", table)[0], -1));
        check("every column can be sorted", headings.length >= 11, headings.length);
        headings.forEach(function (heading) {
            var button = heading.querySelector("button");
            var name = heading.title;
            var first = heading.getAttribute("aria-sort") === "descending" || !heading.classList.contains("n") ? 1 : -1;

            check("by keyboard: " + name, button && button.tabIndex === 0 && !button.disabled);
            button.focus();
            check("focus: " + name, document.activeElement === button);
            button.click();
            check("sorts: " + name, isSorted(heading, first) && all("[aria-sort]", table).length === 1 &&
                heading.getAttribute("aria-sort") === (first > 0 ? "ascending" : "descending"));
            check("says so: " + name, document.querySelector("[role=status]").textContent.includes(name));
            button.click();
            check("turns around: " + name, isSorted(heading, -first) &&
                heading.getAttribute("aria-sort") === (first > 0 ? "descending" : "ascending"));
        });
        check("rows stay with their words", before === bodies().map(function (body) {
            return body.textContent;
        }).sort().join());
    }

    function checkDetails() {
        var details = table.querySelector("details:not([open])");
        var summary = details.querySelector("summary");
        var panel = details.querySelector(".behind");
        var buttons = all(".tools button");

        check("closed at first", !panel.checkVisibility());
        summary.focus();
        check("a line can be reached by the keyboard", document.activeElement === summary);
        summary.click();
        check("and opens", panel.checkVisibility() && panel.getBoundingClientRect().height > 50);
        summary.click();
        check("and closes", !panel.checkVisibility());
        check("one button opens all", buttons.length === 1);
        buttons[0].click();
        check("all are open", all("details:not([open])", table).length === 0);
        buttons[0].click();
        check("all are closed", all("details[open]", table).length === 0);
        window.dispatchEvent(new Event("beforeprint"));
        check("on paper all are open that waste anything", all("details").every(function (one) {
            var body = one.closest("tbody");
            return one.open === (!body || Number(body.querySelector(".w, .z").textContent.replace(/,/g, "")) > 0);
        }));
        window.dispatchEvent(new Event("afterprint"));
        check("and closed again afterwards", all("details[open]").length === 0);
    }

    function checkPictures() {
        check("pictures can be seen", all("figure img").every(function (image) {
            return image.complete && image.naturalWidth > 100 && image.naturalHeight > 50;
        }));
        check("and read to somebody, once", all("figure").every(function (figure) {
            var words = figure.querySelector("figcaption");
            return figure.querySelector("img").alt === words.textContent && words.textContent.length > 20 &&
                words.getAttribute("aria-hidden") === "true";
        }));
        check("their number has a bound", 50 >= all("figure").length);
    }

    function checkSource() {
        var link = document.querySelector("table.source a");
        var target = document.getElementById(link.hash.slice(1));

        check("the source is there", all("table.source .src").length > 0);
        check("a bar for each line that was measured", all("table.source .hit").every(function (line) {
            return line.querySelector(".bar i");
        }));
        link.click();
        check("a line of it leads to its row", location.hash === link.hash && target.tagName === "TBODY");
        target.querySelector("details").open = false;
        window.dispatchEvent(new HashChangeEvent("hashchange"));
        check("which opens", target.querySelector("details").open);
        target.querySelector("details").open = false;
        check("and the row leads back", all("table.lines a[href^='#line-']").every(function (back) {
            return document.getElementById(back.hash.slice(1)).classList.contains("hit");
        }));
    }

    function run() {
        var opened = location.hash && document.querySelector(location.hash + " details");

        if (opened) {
            check("the row that the address names is open", opened.open);
            opened.open = false;
        }
        checkPage();
        if (rows === 0) {
            check("no table", !table);
        } else {
            checkTables();
            checkDetails();
            checkPictures();
            checkSorting();
        }
        if (query.includes("source")) {
            checkSource();
        }
    }

    window.addEventListener("load", function () {
        results.id = "results";
        try {
            run();
            check("that was all", true);
        } catch (error) {
            check(error + " " + error.stack.replace(/\n/g, " "), false);
        }
        results.textContent = "\n" + results.textContent;
        document.body.appendChild(results);
    });
}());
