"""The widest tolerance that each table of a paper may have, by source and metric: they may only narrow."""

FROZEN = {
    "goethals2022": {
        "ours: Table 6, CF-K loses at most as much": {"ncp": 0.0, "pureness": 0.0},
        "Table 6, as released by the authors": {"ncp": 0.052, "pureness": 0.02},
        "Figure 4, Mondrian": {"ncp": 0.053},
        "Figure 5, Mondrian": {"pureness": 0.05},
        "ours: Table 6 with answers that are pure or withheld": {"ncp": 0.0, "pureness": 0.0},
        "ours: Table 6, the optimum at most as much": {"ncp": 0.0, "pureness": 0.0},
        "Figure 6, compared with German": {"ncp": 0.03, "pureness": 0.02},
        "Figure 6, compared with CMC, as the text says": {"ncp": 0.03, "pureness": 0.02},
    },
    "huang2023": {
        "Table 1, no defence": {"train_accuracy": 0.06, "test_accuracy": 0.02},
        "Table 1, DPM": {"train_accuracy": 0.2, "test_accuracy": 0.05},
        "Table 2, no defence": {"train_accuracy": 0.01, "test_accuracy": 0.02},
        "Table 2, DPM": {"train_accuracy": 0.16, "test_accuracy": 0.03},
    },
    "huang2024": {
        "Table 3": {"released tpr@0.001": 0.008, "released tpr@0.01": 0.015, "released auc": 0.009},
        "ours: Table 3, read as its metric is named": {"tpr@0.001": 0.008, "tpr@0.01": 0.015, "auc": 0.009},
        "Table 1": {"tpr@0.001": 0.01, "tpr@0.01": 0.02, "auc": 0.02},
        "Table 2": {"tpr@0.001": 0.01, "tpr@0.01": 0.02, "auc": 0.02},
        "Table 5": {"train_accuracy": 0.02, "test_accuracy": 0.02},
        "ours: Table 7, at most as long": {"seconds": 0.0},
        "Table 8": {"train_accuracy": 0.02, "test_accuracy": 0.02},
        "Table 9": {"tpr@0.001": 0.01, "tpr@0.01": 0.02, "auc": 0.02},
    },
    "naretto2024": {
        "Table 1": {
            "class_f1@0": 0.05,
            "class_f1@1": 0.05,
            "class_f1@2": 0.05,
            "class_precision@0": 0.05,
            "class_precision@1": 0.05,
            "class_precision@2": 0.05,
            "class_recall@0": 0.05,
            "class_recall@1": 0.05,
            "class_recall@2": 0.05,
        },
        "ours: Table 1, F1 of TREPAN read as agreement with the black box": {"fidelity": 0.05},
        "Table 2": {"f1": 0.05, "precision": 0.05, "recall": 0.05, "Δ recall": 0.05},
        "Table 3": {"f1": 0.05, "precision": 0.05, "recall": 0.05, "Δ recall": 0.05},
        "Table 4": {"f1": 0.05, "precision": 0.05, "recall": 0.05, "Δ recall": 0.05},
        "Table 5": {"f1": 0.05, "precision": 0.05, "recall": 0.05, "Δ recall": 0.05},
        "ours: beside the authors' notebooks, Adult, forest": {
            "precision_over_base_rate": 0.05,
            "recall": 0.1,
            "balanced_accuracy_of_claims": 0.05,
        },
    },
    "pawelczyk2022": {
        "Table 2": {"auc": 0.02, "best_balanced_accuracy": 0.02, "tpr@0.1": 0.02, "tpr@0.01": 0.006, "answered": 0.01},
        "Table 3": {"train_accuracy": 0.02, "test_accuracy": 0.02},
        "Table 4": {"train_accuracy": 0.005, "test_accuracy": 0.03},
        "Table 5": {"train_accuracy": 0.02, "test_accuracy": 0.02},
    },
}
