"""What nvidia-smi prints, in the shape of its version 12 device report."""


def card(index, name, bus, memory, *, architecture, used=4, driver_uuid=None, ecc=(0, 0, 0),
         remapped=(0, 0, "No", "No"), temperature=34, action="None", fabric=None, mig="Disabled", processes=()):
    """One GPU: `ecc` is volatile corrected, volatile uncorrected, total uncorrected; `remapped` is
    correctable, uncorrectable, pending, failure; `processes` are (pid, name, MiB)."""
    return {"index": index, "name": name, "bus": bus, "memory": memory, "used": used, "ecc": ecc,
            "architecture": architecture, "remapped": remapped, "temperature": temperature,
            "action": action, "fabric": fabric, "mig": mig, "processes": processes,
            "uuid": driver_uuid or f"GPU-{index:08x}-5c1e-4b7a-9d20-7f3a{index:08x}"}


def query(driver, cuda, cards, when="Fri Nov 20 10:15:04 2026"):
    """`nvidia-smi -q -x`."""
    body = "".join(_gpu(one) for one in cards)
    return (f'<?xml version="1.0" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">\n'
            f"<nvidia_smi_log>\n\t<timestamp>{when}</timestamp>\n\t<driver_version>{driver}</driver_version>\n"
            f"\t<cuda_version>{cuda}</cuda_version>\n\t<attached_gpus>{len(cards)}</attached_gpus>\n"
            f"{body}</nvidia_smi_log>\n")


def _gpu(one):
    corrected, uncorrected, total = one["ecc"]
    soft, hard, pending, failure = one["remapped"]
    rows = [
        ("product_name", one["name"]), ("product_brand", "NVIDIA"),
        ("product_architecture", one["architecture"]), ("persistence_mode", "Enabled"),
        ("mig_mode", [("current_mig", one["mig"]), ("pending_mig", one["mig"])]),
        ("uuid", one["uuid"]), ("minor_number", str(one["index"])),
        ("gpu_reset_status", [("reset_required", "Yes" if one["action"] != "None" else "No"),
                              ("drain_and_reset_recommended", "No")]),
        ("gpu_recovery_action", one["action"]),
        ("pci", [("pci_bus_id", one["bus"]),
                 ("pci_gpu_link_info", [("pcie_gen", [("max_link_gen", "4"), ("current_link_gen", "4")]),
                                        ("link_widths", [("max_link_width", "16x"),
                                                         ("current_link_width", "16x")])])]),
        ("performance_state", "P0"),
        ("fb_memory_usage", [("total", f"{one['memory']} MiB"), ("reserved", "611 MiB"),
                             ("used", f"{one['used']} MiB"),
                             ("free", f"{one['memory'] - 611 - one['used']} MiB")]),
        ("utilization", [("gpu_util", "0 %"), ("memory_util", "0 %")]),
        ("ecc_mode", [("current_ecc", "Enabled"), ("pending_ecc", "Enabled")]),
        ("ecc_errors", [
            ("volatile", [("sram_correctable", "0"), ("sram_uncorrectable", "0"),
                          ("dram_correctable", str(corrected)), ("dram_uncorrectable", str(uncorrected))]),
            ("aggregate", [("sram_correctable", "0"), ("sram_uncorrectable", "0"),
                           ("dram_correctable", str(corrected)), ("dram_uncorrectable", str(total))])]),
        ("remapped_rows", [("remapped_row_corr", str(soft)), ("remapped_row_unc", str(hard)),
                           ("remapped_row_pending", pending), ("remapped_row_failure", failure)]),
        ("temperature", [("gpu_temp", f"{one['temperature']} C"), ("gpu_temp_max_threshold", "92 C"),
                         ("gpu_temp_slow_threshold", "89 C"), ("memory_temp", "44 C")]),
        ("gpu_power_readings", [("power_state", "P0"), ("power_draw", "71.20 W"),
                                ("current_power_limit", "400.00 W")]),
        ("processes", [("process_info", [("pid", str(pid)), ("type", "C"), ("process_name", name),
                                         ("used_memory", f"{mib} MiB")])
                       for pid, name, mib in one["processes"]]),
    ]
    if one["fabric"]:
        rows.insert(6, ("fabric", [("state", one["fabric"][0]), ("status", one["fabric"][1])]))
    return f'\t<gpu id="{one["bus"]}">\n{_xml(rows, 2)}\t</gpu>\n'


def _xml(rows, depth):
    out, tab = "", "\t" * depth
    for label, value in rows:
        if isinstance(value, str):
            out += f"{tab}<{label}>{value}</{label}>\n"
        else:
            out += f"{tab}<{label}>\n{_xml(value, depth + 1)}{tab}</{label}>\n"
    return out


def table(driver, cuda, cards, when="Fri Nov 20 10:15:03 2026"):
    """`nvidia-smi` without arguments."""
    bar = "+-----------------------------------------------------------------------------------------+"
    half = "|-----------------------------------------+------------------------+----------------------+"
    rows = [when, bar, f"| NVIDIA-SMI {driver:<22} Driver Version: {driver:<14} CUDA Version: {cuda:<8} |", half,
            "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |",
            "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |",
            "|                                         |                        |               MIG M. |",
            "|=========================================+========================+======================|"]
    for one in cards:
        rows.append(f"| {one['index']:>3}  {one['name']:<25}  On  |   {one['bus']} Off |{one['ecc'][1]:>21} |")
        rows.append(f"| N/A  {one['temperature']:>3}C    P0              71W /  400W | "
                    f"{one['used']:>7}MiB / {one['memory']:>6}MiB |      0%      Default |")
        rows.append(f"|                                         |                        |{one['mig']:>21} |")
        rows.append(half.replace("|", "+", 1)[:-1] + "+")
    rows += ["", bar, "| Processes:" + " " * 78 + "|",
             "|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |",
             "|        ID   ID                                                               Usage      |",
             "|=========================================================================================|"]
    held = [(one["index"], *each) for one in cards for each in one["processes"]]
    for index, pid, name, mib in held:
        rows.append(f"| {index:>4}   N/A  N/A {pid:>16}      C   {name:<33} {mib:>9}MiB |")
    if not held:
        rows.append("|  No running processes found" + " " * 61 + "|")
    return "\n".join([*rows, bar]) + "\n"
