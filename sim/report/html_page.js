// Sorts tables by their columns, and opens what a link leads to. Without it the page reads the same.
(function () {
    "use strict";
    var collator = new Intl.Collator("en", { numeric: true });
    var status = document.createElement("p");

    function valueOf(body, column, kind) {
        var cell = body.rows[0].cells[column];
        var text = cell ? cell.textContent.trim() : "";
        if (kind === "text") {
            return text || null;
        }
        // a number with separators and a unit
        var number = parseFloat(text.replace(/^< /, "").replace(/,/g, ""));
        return isNaN(number) ? null : number;
    }

    function sort(table, heading, descending) {
        var kind = heading.dataset.sort;
        var column = Number(heading.dataset.column);
        var rows = Array.from(table.tBodies).map(function (body, index) {
            return { body: body, value: valueOf(body, column, kind), index: index };
        });
        rows.sort(function (a, b) {
            var order;
            // what has no value comes last, either way
            if (a.value === null || b.value === null) {
                order = (a.value === null ? 1 : 0) - (b.value === null ? 1 : 0);
                return order || a.index - b.index;
            }
            order = kind === "text" ? collator.compare(a.value, b.value) : a.value - b.value;
            return (descending ? -order : order) || a.index - b.index;
        });
        rows.forEach(function (row) {
            table.appendChild(row.body);
        });
        table.querySelectorAll("[aria-sort]").forEach(function (other) {
            other.removeAttribute("aria-sort");
        });
        heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
        status.textContent = "Sorted by " + heading.dataset.name + ", " +
            (kind === "text" ? (descending ? "Z to A" : "A to Z") :
                (descending ? "largest first" : "smallest first"));
    }

    // Columns are counted in the rows of the body: headings that span two rows come first, others fill the gaps.
    function numberHeadings(table) {
        var taken = [];
        Array.from(table.tHead.rows).forEach(function (row, y) {
            var x = 0;
            Array.from(row.cells).forEach(function (cell) {
                while (taken[y + "," + x]) {
                    x += 1;
                }
                cell.dataset.column = x;
                for (var dy = 0; dy < cell.rowSpan; dy += 1) {
                    for (var dx = 0; dx < cell.colSpan; dx += 1) {
                        taken[(y + dy) + "," + (x + dx)] = true;
                    }
                }
                x += cell.colSpan;
            });
        });
    }

    function makeSortable(table) {
        numberHeadings(table);
        table.querySelectorAll("[data-sort]").forEach(function (heading) {
            var button = document.createElement("button");
            button.type = "button";
            button.textContent = heading.textContent;
            heading.dataset.name = heading.title || heading.textContent;
            heading.dataset.label = heading.textContent;
            heading.textContent = "";
            heading.appendChild(button);
            button.addEventListener("click", function () {
                var now = heading.getAttribute("aria-sort");
                // numbers begin with the largest, words with A
                sort(table, heading, now ? now === "ascending" : heading.dataset.sort === "number");
            });
        });
    }

    function openTarget() {
        var target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
        var details = target && target.querySelector("details");
        if (details) {
            details.open = true;
        }
    }

    // All at once; only for the table of lines.
    function makeTools(heading, table) {
        var all = table.querySelectorAll("details");
        var tools = document.createElement("p");
        var button = document.createElement("button");
        var open = false;

        function label() {
            button.textContent = open ? "Close all" : "Open all";
        }

        button.type = "button";
        button.addEventListener("click", function () {
            open = !open;
            all.forEach(function (details) {
                details.open = open;
            });
            label();
        });
        label();
        tools.className = "tools";
        tools.appendChild(button);
        heading.parentNode.insertBefore(tools, heading.nextSibling);
    }

    status.className = "hidden";
    status.setAttribute("role", "status");
    document.body.appendChild(status);
    document.querySelectorAll("table.sortable").forEach(makeSortable);
    document.querySelectorAll("table.lines").forEach(function (table) {
        makeTools(document.getElementById("lines"), table);
    });
    window.addEventListener("hashchange", openTarget);
    openTarget();

    // On paper everything is open, but for lines that waste nothing.
    window.addEventListener("beforeprint", function () {
        document.querySelectorAll("details:not([open]):not(.z)").forEach(function (details) {
            details.open = true;
            details.dataset.closed = "yes";
        });
    });
    window.addEventListener("afterprint", function () {
        document.querySelectorAll("details[data-closed]").forEach(function (details) {
            details.open = false;
            delete details.dataset.closed;
        });
    });
}());
